"""Plants a layer in a copy of the tree, as docs/architecture.md says, and counts the files that it takes."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_limits import check_limits  # noqa: E402
from check_tree import check_tree, list_files  # noqa: E402
from exceptions import EXCEPTIONS  # noqa: E402
from generate_docs import generate  # noqa: E402
from layer_tables import findings_of_layers  # noqa: E402
import check_options  # noqa: E402
import public_names  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "framework/mezzo/layers/reshaping/"
TABLE = FOLDER + "classes.cpp"

HEADER = """#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct EchoOptions {
  std::int64_t axis = -1;  ///< axis along which the input is repeated
  std::string name{};      ///< name of the layer
  Policy dtype{};          ///< precision policy
};

/// The input, and once more after it.
class MEZZO_API Echo : public Layer {
 public:
  explicit Echo(EchoOptions options = {}) : Layer("Echo", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override;

 private:
  EchoOptions options_;
};

}  // namespace mezzo
"""
SOURCE = """#include <mezzo/layers/reshaping/echo.hpp>

namespace mezzo {

Value Echo::call(const Value& x) { return concat({x, x}, options_.axis); }

}  // namespace mezzo
"""
TEST = """BOOST_AUTO_TEST_SUITE(echo)
BOOST_AUTO_TEST_SUITE_END()
"""
OWN = {FOLDER + "echo.hpp": HEADER, FOLDER + "echo.cpp": SOURCE, "tests/layers/test_echo.cpp": TEST}

# The entry of the table: an include, the options, a line. Each stands before the text that is its key.
ENTRY = {"#include <mezzo/layers/reshaping/flatten.hpp>\n": "#include <mezzo/layers/reshaping/echo.hpp>\n",
         "static void describe(Fields&, FlattenOptions&":
             'static void describe(Fields& fields, EchoOptions& options) { fields("axis", options.axis); }\n\n',
         "detail::saved_layer<Flatten,": 'detail::saved_layer<Echo, EchoOptions>("Echo"),\n          '}


class PlantedLayer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name)
        for name in list_files(ROOT):
            (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, cls.root / name)
        cls.before = cls.contents()
        for name, text in OWN.items():
            (cls.root / name).write_text(text)

    @classmethod
    def contents(cls):
        return {name: (cls.root / name).read_bytes() for name in list_files(cls.root)}

    def findings(self):
        """Those of the checks of public names, docs and options that name the layer."""
        paths = sorted((self.root / "framework/mezzo/layers").rglob("*.[ch]pp"))
        options = check_options.findings_of([path.read_text(encoding="utf-8") for path in paths])
        return self.of_layer([*options, *findings_of_layers(self.root), *public_names.check(self.root),
                              *generate(self.root, write=False)])

    @staticmethod
    def of_layer(findings):
        return [text for text in map(str, findings) if "echo" in text.lower()]

    def test_three_files_and_an_entry(self):
        self.assertEqual(self.findings(), [f"Echo: has no entry in {TABLE}, so it is not saved"])
        text = (self.root / TABLE).read_text()
        for mark, line in ENTRY.items():
            self.assertEqual(text.count(mark), 1, mark)
            text = text.replace(mark, line + mark)
        (self.root / TABLE).write_text(text)
        by_hand = self.changed()
        self.assertEqual(by_hand, {*OWN, TABLE})

        # Two lists are written by scripts.
        found = self.findings()
        self.assertEqual(len(found), 1, found)
        self.assertIn("echo.hpp> is missing; run", found[0])
        list(generate(self.root, write=True))
        names = "".join(sorted(f"{kind} {name}\n" for kind, name in public_names.public_names(self.root)))
        (self.root / public_names.LIST).write_text(names)
        self.assertEqual(self.findings(), [])
        self.assertEqual(self.of_layer([*check_tree(self.root)[0], *check_limits(self.root, EXCEPTIONS)]), [])
        self.assertEqual(self.changed() - by_hand, {"framework/mezzo/mezzo.hpp", str(public_names.LIST)})
        self.compile()

    def changed(self):
        """Files that differ from the tree."""
        return {name for name, content in self.contents().items() if self.before.get(name) != content}

    def compile(self):
        include = [f"-I{self.root / folder}" for folder in ("framework", "models", "datasets")]
        sources = [str(self.root / name) for name in (FOLDER + "echo.cpp", TABLE)]
        done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", *include, *sources],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class Tables(unittest.TestCase):
    def test_the_name_of_an_entry_is_that_of_its_class(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, TABLE)
            table.parent.mkdir(parents=True)
            table.write_text('detail::saved_layer<Echo, EchoOptions>("Eco")')
            self.assertEqual(findings_of_layers(folder), ["Echo: its entry has the name Eco"])


if __name__ == "__main__":
    unittest.main()
