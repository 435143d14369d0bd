#!/usr/bin/env python3
"""Shows which names public_names.py finds in a header, and what it says of them."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from public_names import LIST, check, names_of, own_classes  # noqa: E402

HEADER = """#pragma once
namespace other { struct Elsewhere {}; }
namespace mezzo {
class Forward;
/// struct Comment {};
template <class T> class MEZZO_API Box : public Base { class Inner {}; };
enum class Kind { a, b };
using Numbers = std::vector<double>;
using losses::Hinge;
MEZZO_API Value twice(const Value& x);
inline constexpr All everything{};
Value operator+(const Value& a, const Value& b);
inline void Box::member() {}
namespace detail { struct Hidden {}; void helper(); }
}
"""


class PublicNames(unittest.TestCase):
    def test_kinds(self):
        self.assertEqual(names_of(HEADER), {
            ("class", "Forward"), ("class", "Box"), ("enum", "Kind"), ("alias", "Numbers"), ("using", "Hinge"),
            ("function", "twice"), ("variable", "everything")})

    def findings(self, header, recorded, page=""):
        with tempfile.TemporaryDirectory() as root:
            files = {"framework/mezzo/mezzo.hpp": header, "framework/mezzo/ops/rows/ops.def": "", str(LIST): recorded,
                     "README.md": "", "docs/page.md": page}
            for name, text in files.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(check(root))

    def test_new_and_old_names(self):
        found = self.findings("#pragma once\nnamespace mezzo {\nclass A;\n}\n", "class B\n")
        self.assertEqual([line.split(": ")[1].split(";")[0].split(" is new")[0] for line in found],
                         ["class A", "class B is not declared"])

    def test_a_class_of_the_docs_is_a_public_name(self):
        page = "# Page\n\n```cpp\nclass Box {};\n```\n"
        found = self.findings("#pragma once\nnamespace mezzo {\nclass Box;\n}\n", "class Box\n", page)
        self.assertEqual(found, ["docs/page.md:4: mezzo has a class Box, too"])

    def test_common_words_are_documented(self):
        header = "#pragma once\nnamespace mezzo {\nclass Kernel;\n}\n"
        self.assertEqual(len(self.findings(header, "class Kernel\n")), 1)
        self.assertEqual(self.findings(header, "class Kernel\n", "A `Kernel` computes.\n"), [])

    def test_words_of_programs(self):
        text = own_classes({"Batch"})
        self.assertNotIn("struct Batch ", text)
        self.assertIn("struct Node {};", text)


if __name__ == "__main__":
    unittest.main()
