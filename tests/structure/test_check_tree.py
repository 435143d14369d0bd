#!/usr/bin/env python3
"""Shows that check_tree.py finds each kind of fault in a small bad tree, and nothing in a good one."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_tree import TABLE, check_tree  # noqa: E402
from folders import FOLDERS, Folder, allowed, direct_uses, entry_of, folder_of  # noqa: E402

HEADER = "#pragma once\n"
LIBRARY = "framework/mezzo/"


def write(root, files):
    for name, text in files.items():
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def findings(files, links=()):
    with tempfile.TemporaryDirectory() as root:
        write(root, files)
        for name, target in links:
            os.symlink(target, Path(root) / name)
        return check_tree(root)[0]


class CheckTree(unittest.TestCase):
    def expect(self, files, path, line, rule, links=()):
        found = findings(files, links)
        self.assertEqual([(p, n) for p, n, _ in found], [(path, line)], found)
        self.assertIn(rule, found[0][2])

    def expect_line(self, path, line, rule, head="", others=()):
        self.expect({**dict.fromkeys(others, HEADER), path: head + line + "\n"}, path, head.count("\n") + 1, rule)

    def test_good_tree(self):
        self.assertEqual(findings({
            "CMakeLists.txt": "",
            ".gitignore": "",
            "framework/CMakeLists.txt": "",
            "framework/cmake/a.cmake": "",
            LIBRARY + "mezzo.hpp": HEADER + "#include <mezzo/layers/dense.hpp>\n#include <mezzo/models/cnn.hpp>\n",
            LIBRARY + "xtensor.hpp": HEADER + "#include <xtensor/xarray.hpp>\n#include <mezzo/core/tensor.hpp>\n",
            LIBRARY + "registration.cpp": "#include <mezzo/backends/onednn/list.hpp>\n",
            LIBRARY + "core/tensor.hpp": HEADER,
            LIBRARY + "core/tensor.cpp": "#include \"copy.hpp\"\n#include <mezzo/core/copy.hpp>\n#include <vector>\n",
            LIBRARY + "core/copy.hpp": HEADER + "#include <fmt/format.h>\n",
            LIBRARY + "nn/layer.hpp": HEADER,
            LIBRARY + "layers/dense.hpp": HEADER + "#include <mezzo/nn/layer.hpp>\n#include <mezzo/core/tensor.hpp>\n",
            LIBRARY + "compiler/kernel.hpp": HEADER,
            LIBRARY + "compiler/plan.hpp": HEADER,
            LIBRARY + "training/loops/fit.cpp": "#include <mezzo/compiler/plan.hpp>\n",
            LIBRARY + "backends/onednn/list.hpp": HEADER + "#include <dnnl.hpp>\n",
            LIBRARY + "backends/onednn/matmul.cpp": "#include <mezzo/compiler/kernel.hpp>\n",
            LIBRARY + "backends/xsimd/winograd/add.isa.cpp": "#include <xsimd/xsimd.hpp>\n",
            LIBRARY + "backends/reference/add.cpp": "#include <xtensor/xadapt.hpp>\n",
            "models/mezzo/models/cnn.hpp": HEADER + "#include <mezzo/layers/dense.hpp>\n",
            "datasets/mezzo/datasets/mnist.cpp": "#include <mezzo/data/image/decode.hpp>\n",
            LIBRARY + "data/image/decode.hpp": HEADER,
            "tests/core/test_tensor.cpp": "#include <mezzo/core/copy.hpp>\n#include <xtensor/xarray.hpp>\n"
                                          "#include \"support/a.hpp\"\nBOOST_AUTO_TEST_SUITE(tensor)\n",
            "tests/support/a.hpp": HEADER,
        }), [])

    def test_arrows(self):
        for path, target in [("core/a.cpp", "graph/value"), ("precision/a.cpp", "ops/op_lists"),
                             ("graph/a.cpp", "ops/add"), ("nn/a.cpp", "layers/dense"), ("nn/a.cpp", "compiler/plan"),
                             ("compiler/a.cpp", "nn/layer"), ("layers/a.cpp", "training/trainer/trainer"),
                             ("ops/a.cpp", "backends/onednn/engine"), ("layers/a.cpp", "models/cnn"),
                             ("data/a.cpp", "data/text/tokenizer"), ("io/a.cpp", "data/dataset"),
                             ("backends/reference/a.cpp", "backends/xsimd/winograd/tiles"),
                             ("backends/xsimd/winograd/a.cpp", "backends/onednn/api"),
                             ("report/display/a.cpp", "report/errors"), ("losses/a.cpp", "metrics/accuracy"),
                             ("training/module/a.cpp", "training/step/context"),
                             ("training/loggers/a.cpp", "training/profilers/names"),
                             ("training/ranks/a.cpp", "training/loggers/names"),
                             ("training/step/a.cpp", "training/checkpoints/reader"),
                             ("training/checkpoints/a.cpp", "training/loops/fit"),
                             ("training/loops/a.cpp", "training/model/model"),
                             ("training/model/a.cpp", "training/callbacks/timer"),
                             ("training/callbacks/a.cpp", "training/trainer/trainer")]:
            root = "models/mezzo/" if target.startswith("models/") else LIBRARY
            self.expect_line(LIBRARY + path, f"#include <mezzo/{target}.hpp>", "must not include", head="\n",
                             others=[f"{root}{target}.hpp"])
        self.expect_line("datasets/mezzo/datasets/a.cpp", "#include <mezzo/nn/layer.hpp>",
                         "datasets must not include nn", others=[LIBRARY + "nn/layer.hpp"])

    def test_arrow_by_relative_path(self):
        self.expect_line(LIBRARY + "core/a.cpp", '#include "../graph/b.hpp"', "core must not include graph",
                         others=[LIBRARY + "graph/b.hpp"])

    def test_public_headers_only(self):
        path, header = "models/mezzo/models/a.cpp", LIBRARY + "nn/layer.hpp"
        self.expect_line(path, "#include <mezzo/nn/layer.hpp>", "<mezzo/nn/layer.hpp> is private", others=[header])
        self.assertEqual(findings({path: "#include <mezzo/nn/layer.hpp>\n", header: HEADER,
                                   LIBRARY + "mezzo.hpp": HEADER + "#include <mezzo/nn/layer.hpp>\n"}), [])
        self.assertEqual(findings({path: "#include <mezzo/core/fail.hpp>\n", LIBRARY + "core/fail.hpp": HEADER}), [])
        self.expect_line(LIBRARY + "report/a.cpp", "#include <mezzo/report/display/svg.hpp>", "is private",
                         others=[LIBRARY + "report/display/svg.hpp"])

    def test_files_above_all(self):
        for name in ["mezzo.hpp", "xtensor.hpp", "eigen.hpp", "opencv.hpp", "report/display/notebook.hpp"]:
            self.expect_line(LIBRARY + "layers/a.cpp", f"#include <mezzo/{name}>", "above all",
                             others=[LIBRARY + name])

    def test_missing_header(self):
        self.expect_line(LIBRARY + "layers/a.cpp", "#include <mezzo/core/b.hpp>", "not a file of the tree")
        self.expect_line("tests/support/a.hpp", '#include "support/b.hpp"', "not a file of the tree", head=HEADER)

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_ignored_header(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "--quiet", root], check=True)
            write(root, {".gitignore": "made.hpp\n", LIBRARY + "core/made.hpp": HEADER,
                         LIBRARY + "core/a.cpp": "#include <mezzo/core/made.hpp>\n"})
            found = check_tree(root)[0]
        self.assertEqual(found, [(LIBRARY + "core/a.cpp", 1, "<mezzo/core/made.hpp> is not a file of the tree")])

    def test_header_in_two_roots(self):
        self.expect_line(LIBRARY + "core/a.cpp", "#include <mezzo/core/b.hpp>", "several include roots",
                         others=[LIBRARY + "core/b.hpp", "models/mezzo/core/b.hpp"])

    def test_links(self):
        tree = {LIBRARY + "core/a.hpp": HEADER, "tests/support/a.hpp": HEADER}
        for name, target in [(LIBRARY + "core/b.hpp", "a.hpp"), ("framework/mezzo/graph", "core"),
                             ("framework/lost", "nowhere"), ("tests/support/b.hpp", "a.hpp")]:
            found = findings(tree, [(name, target)])
            self.assertIn((name, 1, "a symbolic link on the include path"), found)
        self.expect_line("framework/cmake/a.cmake", "file(CREATE_LINK a b SYMBOLIC)", "must not make links")

    def test_unknown_folder(self):
        for folder in ["novel", "training"]:  # training has rooms only
            self.expect_line(LIBRARY + folder + "/a.cpp", "", f"{folder} has no entry")

    def test_entry_without_folder(self):
        found = findings({TABLE: "", LIBRARY + "core/a.cpp": ""})
        self.assertIn((TABLE, 1, "the entry nn has no folder"), found)
        self.assertNotIn((TABLE, 1, "the entry core has no folder"), found)

    def test_detail(self):
        self.expect({LIBRARY + "core/detail/a.hpp": HEADER}, LIBRARY + "core/detail/a.hpp", 1, "beside their sources")

    def test_public_header_includes_private(self):
        for name in ["compiler/plan", "backends/xsimd/tiles", "cli/options"]:
            found = findings({LIBRARY + "mezzo.hpp": HEADER + f"#include <mezzo/{name}.hpp>\n",
                              f"{LIBRARY}{name}.hpp": HEADER})
            self.assertEqual(found, [(LIBRARY + "mezzo.hpp", 2,
                                      f"a public header must not include the private <mezzo/{name}.hpp>")])
        self.assertEqual(findings({LIBRARY + "mezzo.hpp": HEADER + "#include <mezzo/compiler/kernel.hpp>\n",
                                   LIBRARY + "compiler/kernel.hpp": HEADER}), [])

    def test_public_header_includes_library(self):
        for library in ["fmt/format.h", "nlohmann/json.hpp"]:
            files = {LIBRARY + "mezzo.hpp": HEADER + "#include <mezzo/core/a.hpp>\n",
                     LIBRARY + "core/a.hpp": HEADER + f"#include <{library}>\n"}
            self.expect(files, LIBRARY + "core/a.hpp", 2, "a public header must not include")
            del files[LIBRARY + "mezzo.hpp"]
            self.assertEqual(findings(files), [])
        self.expect_line(LIBRARY + "xtensor.hpp", "#include <fmt/format.h>", "a public header", head=HEADER)
        self.assertEqual(findings({LIBRARY + "report/display/notebook.hpp": HEADER + "#include <nlohmann/json.hpp>\n"}),
                         [])

    def test_libraries(self):
        for path, header, library in [("backends/xsimd/a.cpp", "dnnl.hpp", "oneDNN"),
                                      ("ops/a.cpp", "oneapi/dnnl/dnnl.hpp", "oneDNN"),
                                      ("core/a.cpp", "xsimd/xsimd.hpp", "xsimd"),
                                      ("io/a.cpp", "utf8proc.h", "utf8proc"),
                                      ("nn/a.cpp", "re2/re2.h", "RE2"),
                                      ("nn/a.cpp", "regex", "std::regex"),
                                      ("io/a.cpp", "png.h", "image format"),
                                      ("io/a.cpp", "turbojpeg.h", "image format"),
                                      ("io/a.cpp", "tiffio.h", "image format"),
                                      ("io/a.cpp", "webp/decode.h", "image format"),
                                      ("core/a.cpp", "Eigen/Core", "Eigen"),
                                      ("core/a.cpp", "opencv2/core.hpp", "OpenCV"),
                                      ("io/a.cpp", "sentencepiece_processor.h", "SentencePiece"),
                                      ("data/a.cpp", "archive.h", "archive"),
                                      ("report/a.cpp", "CLI/CLI.hpp", "CLI11"),
                                      ("core/a.cpp", "xtensor/xarray.hpp", "xtensor"),
                                      ("backends/xsimd/a.cpp", "xtensor/xarray.hpp", "xtensor")]:
            self.expect_line(LIBRARY + path, f"#include <{header}>", library)

    def test_openmp(self):
        self.expect_line(LIBRARY + "ops/a.cpp", "  #pragma omp parallel for", "core/parallel")
        self.expect_line(LIBRARY + "ops/a.cpp", "GOMP_parallel(f, p, 0, 0);", "core/parallel")

    def test_headers(self):
        self.expect_line(LIBRARY + "core/a.hpp", "using namespace std;", "using namespace", head=HEADER)
        self.expect({LIBRARY + "core/a.hpp": "\n"}, LIBRARY + "core/a.hpp", 1, "#pragma once")

    def test_size(self):
        self.expect({"tests/core/a.cpp": "\n" * 401}, "tests/core/a.cpp", 401, "401 lines")

    def test_suite(self):
        self.expect({"tests/core/test_a.cpp": "BOOST_AUTO_TEST_SUITE(b)\n"}, "tests/core/test_a.cpp", 1, "the suite a")
        self.assertEqual(findings({"tests/core/test_a.cpp": "BOOST_AUTO_TEST_SUITE(a)\n"}), [])

    def test_machine_path(self):
        self.expect_line("docs/a.md", "see " + "/" + "home/someone/file", "one machine")

    def test_top_level(self):
        self.expect_line("scripts/a.sh", "", "top level")


class Folders(unittest.TestCase):
    def test_table(self):
        for name, folder in FOLDERS.items():
            self.assertLessEqual({*folder.uses, *folder.only_public} - {"*"}, set(FOLDERS), name)
            for used in allowed(name) - {name}:
                self.assertNotIn(name, allowed(used), f"{name} and {used} use each other")

    def test_places(self):
        self.assertEqual(folder_of("framework/mezzo/core/a.hpp"), "core")
        self.assertEqual(folder_of("framework/mezzo/backends/xsimd/winograd/a.cpp"), "backends/xsimd/winograd")
        self.assertEqual(folder_of("models/mezzo/models/a.hpp"), "models")
        for path in ["framework/mezzo/mezzo.hpp", "framework/CMakeLists.txt", "tests/core/a.cpp"]:
            self.assertIsNone(folder_of(path))
        self.assertEqual(entry_of("backends/xsimd/winograd"), "backends/xsimd")
        self.assertEqual(entry_of("backends/novel"), "backends")
        self.assertIsNone(entry_of("novel"))

    def test_arrows(self):
        table = {"a": Folder(""), "b": Folder("", ("a",)), "c": Folder("", ("a", "b"))}
        self.assertEqual(allowed("c", table), {"a", "b", "c"})
        self.assertEqual(direct_uses("c", table), ["b"])


if __name__ == "__main__":
    unittest.main()
