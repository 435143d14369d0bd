#!/usr/bin/env python3
"""Shows that check_tree.py finds each kind of fault in a small bad tree, and nothing in a good one."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_tree import check_tree  # noqa: E402

HEADER = "#pragma once\n"


def findings(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_tree(root)[0]


class CheckTree(unittest.TestCase):
    def expect(self, files, path, line, rule):
        found = findings(files)
        self.assertEqual([(p, n) for p, n, _ in found], [(path, line)], found)
        self.assertIn(rule, found[0][2])

    def expect_line(self, path, line, rule, head=""):
        self.expect({path: head + line + "\n"}, path, head.count("\n") + 1, rule)

    def test_good_tree(self):
        self.assertEqual(findings({
            "CMakeLists.txt": "",
            ".gitignore": "",
            "framework/mezzo.hpp": HEADER + "#include <mezzo/layers/dense.hpp>\n#include <mezzo/models/cnn.hpp>\n",
            "framework/xtensor.hpp": HEADER + "#include <xtensor/xarray.hpp>\n#include <mezzo/core/tensor.hpp>\n",
            "framework/core/tensor.hpp": HEADER,
            "framework/core/tensor.cpp": "#include \"detail/copy.hpp\"\n#include <mezzo/core/detail/copy.hpp>\n",
            "framework/core/detail/copy.hpp": HEADER,
            "framework/layers/dense.hpp": HEADER + "#include <mezzo/nn/layer.hpp>\n#include <mezzo/core/tensor.hpp>\n",
            "framework/training/fit.cpp": "#include <mezzo/compiler/plan.hpp>\n",
            "framework/backends/onednn/matmul.cpp": "#include <dnnl.hpp>\n#include <mezzo/compiler/kernel.hpp>\n",
            "framework/backends/xsimd/add.isa.cpp": "#include <xsimd/xsimd.hpp>\n",
            "models/cnn.hpp": HEADER + "#include <mezzo/layers/dense.hpp>\n",
            "datasets/mnist.cpp": "#include <mezzo/data/dataset.hpp>\n",
            "tests/core/test_tensor.cpp": "#include <mezzo/core/detail/copy.hpp>\n#include <xtensor/xarray.hpp>\n"
                                          "BOOST_AUTO_TEST_SUITE(tensor)\n",
        }), [])

    def test_arrows(self):
        for path, target in [("framework/core/a.cpp", "graph/value"), ("framework/graph/a.cpp", "ops/add"),
                             ("framework/model/a.cpp", "layers/dense"), ("framework/layers/a.cpp", "training/trainer"),
                             ("framework/model/a.cpp", "compiler/plan"), ("framework/compiler/a.cpp", "model/layer"),
                             ("framework/ops/a.cpp", "backends/onednn/engine"), ("models/a.cpp", "compiler/plan"),
                             ("datasets/a.cpp", "layers/dense"), ("framework/layers/a.cpp", "models/cnn")]:
            self.expect_line(path, f"#include <mezzo/{target}.hpp>", "must not include", head="\n")

    def test_arrow_by_relative_path(self):
        self.expect({"framework/graph/b.hpp": HEADER, "framework/core/a.cpp": '#include "../graph/b.hpp"\n'},
                    "framework/core/a.cpp", 1, "core must not include graph")

    def test_gathering_header(self):
        self.expect_line("framework/layers/a.cpp", "#include <mezzo/mezzo.hpp>", "gathering header")

    def test_unknown_folder(self):
        self.expect_line("framework/novel/a.cpp", "", "no place")

    def test_detail(self):
        self.expect_line("framework/layers/a.cpp", "#include <mezzo/core/detail/x.hpp>", "private to framework/core/")

    def test_public_header_includes_private(self):
        self.expect_line("framework/core/a.hpp", "#include <mezzo/core/detail/x.hpp>", "public header", head=HEADER)
        self.expect_line("framework/report/a.hpp", "#include <mezzo/compiler/plan.hpp>", "public header", head=HEADER)

    def test_libraries(self):
        self.expect_line("framework/backends/xsimd/a.cpp", "#include <dnnl.hpp>", "oneDNN")
        self.expect_line("framework/ops/a.cpp", "#include <oneapi/dnnl/dnnl.hpp>", "oneDNN")
        self.expect_line("framework/core/a.cpp", "#include <xsimd/xsimd.hpp>", "xsimd")
        self.expect_line("framework/core/a.hpp", "#include <xtensor/xarray.hpp>", "xtensor", head=HEADER)

    def test_openmp(self):
        self.expect_line("framework/ops/a.cpp", "  #pragma omp parallel for", "core/parallel")
        self.expect_line("framework/ops/a.cpp", "GOMP_parallel(f, p, 0, 0);", "core/parallel")

    def test_headers(self):
        self.expect_line("framework/core/a.hpp", "using namespace std;", "using namespace", head=HEADER)
        self.expect({"framework/core/a.hpp": "\n"}, "framework/core/a.hpp", 1, "#pragma once")

    def test_size(self):
        self.expect({"tests/core/a.cpp": "\n" * 401}, "tests/core/a.cpp", 401, "401 lines")

    def test_suite(self):
        self.expect({"tests/core/test_a.cpp": "BOOST_AUTO_TEST_SUITE(b)\n"}, "tests/core/test_a.cpp", 1, "the suite a")
        self.assertEqual(findings({"tests/core/test_a.cpp": "BOOST_AUTO_TEST_SUITE(a)\n"}), [])

    def test_machine_path(self):
        self.expect_line("docs/a.md", "see " + "/" + "home/someone/file", "one machine")

    def test_top_level(self):
        self.expect_line("scripts/a.sh", "", "top level")


if __name__ == "__main__":
    unittest.main()
