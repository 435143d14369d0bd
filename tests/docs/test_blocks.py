#!/usr/bin/env python3
"""Shows what blocks.py makes of the blocks of a page."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from blocks import BlockError, blocks, source, source_name  # noqa: E402


def block(code, marks=""):
    return f"{marks}\n```cpp\n{code}\n```\n"


def texts(parts):
    return ["".join(text.split()) for _, text in parts]


class Blocks(unittest.TestCase):
    def one(self, text):
        found = list(blocks("page.md", text))
        self.assertEqual(len(found), 1)
        return found[0]

    def test_classes_and_functions_stand_outside(self):
        found = self.one(block("class A {\n};\nint twice(int x) { return 2 * x; }\nA a;\nfor (;;) { break; }"))
        self.assertEqual(texts(found.outside), ["classA{};", "inttwice(intx){return2*x;}"])
        self.assertEqual(texts(found.inside), ["Aa;", "for(;;){break;}"])

    def test_lambdas_stand_inside(self):
        found = self.one(block("const auto f = [](int x) { return x; };\nf(1);"))
        self.assertEqual(texts(found.outside), [])
        self.assertEqual("".join(texts(found.inside)), "constautof=[](intx){returnx;};f(1);")

    def test_main_is_run(self):
        found = self.one(block("#include <vector>\nusing namespace mezzo;\n\nint main() {\n  f();\n}"))
        self.assertEqual(found.includes, ["#include <vector>"])
        self.assertEqual(texts(found.inside), ["f();"])

    def test_continues(self):
        first, second = blocks("page.md", block("int a = 1;") + block("a = 2;", "<!-- continues -->\n"))
        self.assertEqual(texts(first.inside), ["inta=1;"])
        self.assertEqual(texts(second.inside), ["inta=1;", "a=2;"])

    def test_given_code_comes_first(self):
        found = self.one(block("f(a);", "<!-- given:\nint a = 1;\n-->\n"))
        self.assertEqual(texts(found.inside), ["inta=1;", "f(a);"])

    def test_frame(self):
        found = self.one(block("int call();", "<!-- given:\nclass A {\n  ...\n};\n-->\n"))
        self.assertIn("intcall();", texts(found.outside)[0])

    def test_lines_are_those_of_the_page(self):
        found = self.one("# Page\n\n" + block("f();"))
        self.assertEqual(found.line, 5)
        self.assertIn('#line 5 "page.md"', source("page.md", [found]))

    def test_sources_of_pages_of_one_name(self):
        self.assertEqual([source_name(page) for page in ("README.md", "docs/README.md", "docs/keras.md", "docs/a/notes.md")],
                         ["top_README.cpp", "README.cpp", "keras.cpp", "a_notes.cpp"])

    def test_blocks_that_do_not_run(self):
        found = self.one(block("f();", "<!-- compiles only: it needs a file -->\n")
                         + block("g", "<!-- no program: a part of one -->\n") + block("h", "<!-- file: a.cpp -->\n"))
        self.assertFalse(found.runs)

    def test_generated_parts_are_left_out(self):
        self.assertEqual(list(blocks("page.md", "<!-- generated: program a -->\n" + block("f();")
                                     + "<!-- end: program a -->\n")), [])

    def test_errors(self):
        for marks, error in (("<!-- continues -->\n", "continues no block"), ("<!-- givn: int a; -->\n", "unknown mark givn"),
                             ("<!-- compiles only -->\n", "needs a reason")):
            with self.assertRaisesRegex(BlockError, error):
                list(blocks("page.md", block("f();", marks)))


if __name__ == "__main__":
    unittest.main()
