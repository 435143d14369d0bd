#!/usr/bin/env python3
"""Shows that generate_docs.py writes its parts and finds stale parts, blocks and paths."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from catalogue import NAMES  # noqa: E402
from generate_docs import OPS_DEF, check_blocks, check_paths, generate  # noqa: E402
from ops_def import OpRow, read_rows  # noqa: E402

ARCHITECTURE = "head\n<!-- generated: folders -->\n<!-- end: folders -->\nmiddle\n<!-- generated: arrows -->\n" \
               "stale\n<!-- end: arrows -->\ntail\n"
OPS = "head\n<!-- generated: ops -->\n| by hand |\n<!-- end: ops -->\n"
ROWS = r"""
#define MEZZO_OP(name, flags, inputs, attributes, outputs, ...) \
  Value name();
// MEZZO_OP(comment, PLAIN, "", "", "")

/// a + b, (both) "broadcast".
MEZZO_OP(add, WIDEN, "a, b: any one dtype; broadcast",
         "", "that dtype")
MEZZO_UNARY_OP(relu, WIDEN, "x: T", "", "T")  // trailing, comment
MEZZO_OP(matmul, PLAIN, "a: T (..., M, K); "  // adjacent
         "b: T (K, N)", "activation: string, \"\" or \"relu\"", "(..., M, N) | b",
         "mm", "bmm")
MEZZO_ALIAS_OP(iadd, PLAIN, "as add", "", "as add", {"add_"}, add)
"""


class Docs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("docs/architecture.md", ARCHITECTURE)
        self.write("docs/ops.md", OPS)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name):
        return (self.root / name).read_text()

    def test_parts(self):
        self.assertEqual([name for name, _ in generate(self.root, write=False)], ["docs/architecture.md"] * 2)
        self.assertEqual(self.read("docs/architecture.md"), ARCHITECTURE)
        self.assertEqual(list(generate(self.root, write=True)), [])
        self.assertEqual(list(generate(self.root, write=False)), [])
        text = self.read("docs/architecture.md")
        self.assertIn("| `core` | ", text)
        self.assertIn("  f_graph --> f_precision\n", text)
        self.assertRegex(text, r"(?s)^head\n.*\nmiddle\n.*\ntail\n$")
        self.assertNotIn("stale", text)

    def test_names_of_keras_need_a_declaration_or_a_reason(self):
        self.write(OPS_DEF, 'MEZZO_UNARY_OP(abs, WIDEN, "x: T", "", "T")')
        self.write("framework/mezzo/mezzo.hpp", "namespace mezzo { Value absolute(const Value& x); }")
        findings = [text for document, text in generate(self.root, write=False) if document == "docs/catalogue.md"]
        self.assertIn("keras.ops.adaptive_average_pool is not declared and has no reason in catalogue.py", findings)
        self.write("framework/mezzo/ops/names.hpp", "namespace mezzo {\n" + "".join(
            f"Value {name}();\n" for name in json.loads(NAMES.read_text())["ops"]) + "}\n")
        findings = [text for document, text in generate(self.root, write=False) if document == "docs/catalogue.md"]
        twice = "is declared and has a reason in catalogue.py; delete it"
        self.assertTrue(any(text.endswith(twice) for text in findings))

    def test_missing_markers(self):
        self.write("docs/architecture.md", ARCHITECTURE.replace("<!-- end: folders -->", ""))
        self.assertIn(("docs/architecture.md", "has no markers of the generated part folders"),
                      list(generate(self.root, write=True)))

    def test_ops(self):
        list(generate(self.root, write=True))
        self.assertEqual(self.read("docs/ops.md"), OPS)  # no ops.def: left alone
        self.write(OPS_DEF, ROWS)
        self.assertIn("docs/ops.md", [name for name, _ in generate(self.root, write=False)])
        list(generate(self.root, write=True))
        text = self.read("docs/ops.md")
        self.assertNotIn("by hand", text)
        self.assertIn('| matmul | a: T (..., M, K); b: T (K, N) | activation: string, "" or "relu" | (..., M, N) \\| b'
                      ' | mm, bmm |\n', text)

    def test_rows(self):
        self.assertEqual(read_rows(ROWS), [
            OpRow("MEZZO_OP", "add", "WIDEN", "a, b: any one dtype; broadcast", "", "that dtype", []),
            OpRow("MEZZO_UNARY_OP", "relu", "WIDEN", "x: T", "", "T", []),
            OpRow("MEZZO_OP", "matmul", "PLAIN", "a: T (..., M, K); b: T (K, N)",
                  'activation: string, "" or "relu"', "(..., M, N) | b", ["mm", "bmm"]),
            OpRow("MEZZO_ALIAS_OP", "iadd", "PLAIN", "as add", "", "as add", ["add_"])])
        with self.assertRaisesRegex(ValueError, "no end"):
            read_rows('MEZZO_OP(add, PLAIN, "a')
        with self.assertRaisesRegex(ValueError, "3 arguments; expected 5"):
            read_rows('MEZZO_OP(add, PLAIN, "a")')

    def test_blocks(self):
        self.write("a.cpp", "int x;\nint y;\nint z;\n")
        block = "text\n<!-- file: a.cpp -->\n```cpp\n{}```\n"
        for code, findings in [("int y;\nint z;\n", 0), ("int y;\n", 0), ("int  y;\n", 1), ("y;\n", 1)]:
            self.write("docs/a.md", block.format(code))
            self.assertEqual(len(list(check_blocks(self.root))), findings, code)
        self.write("docs/a.md", "<!-- file: b.cpp -->\n```cpp\n```\n")
        self.assertEqual(list(check_blocks(self.root)), [("docs/a.md:1", "b.cpp is no file")])
        self.write("docs/a.md", "\n<!-- file: a.cpp -->\ntext\n")
        self.assertEqual(list(check_blocks(self.root)), [("docs/a.md:2", "no code block follows the marker of a file")])

    def test_paths(self):
        self.write("framework/mezzo/ops/add.cpp", "")
        self.write("tests/ci.sh", "")
        self.write("docs/a.md", "`ops/add.cpp` `tests/ci.sh` `<mezzo/ops/add.hpp>` `x.cpp`\n\n`ops/gone.cpp`\n")
        self.write("docs/b.md", "```sh\n`ops/example.cpp`\n```\n")
        self.assertEqual(list(check_paths(self.root)), [("docs/a.md:3", "`ops/gone.cpp` is no file of the tree")])


if __name__ == "__main__":
    unittest.main()
