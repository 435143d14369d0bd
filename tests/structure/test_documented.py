"""Tests of documented.py."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from documented import undocumented  # noqa: E402


def names(text):
    return [name for _, name in undocumented("namespace mezzo {\n" + text + "}\n")]


class Documented(unittest.TestCase):
    def test_finds_members_functions_classes_and_aliases(self):
        text = """struct A {
  int x = 0;
  int y = 0;  ///< a comment
  void f();
};
void g(int x);
enum class E { a };
using Names = std::vector<int>;
"""
        self.assertEqual(names(text), ["A", "x", "f", "g", "E", "Names"])

    def test_reads_comments_above_and_beside(self):
        text = """/// A class.
class B {
 public:
  /// A template.
  template <class T>
  T f() const;

  int x = 0;  ///< a number
};
"""
        self.assertEqual(names(text), [])

    def test_a_comment_serves_functions_up_to_an_empty_line(self):
        text = """/// Both.
int f(int x);
int f(double x);

int f(bool x);
int y();  ///< y
int z();
"""
        self.assertEqual(names(text), ["f", "z"])

    def test_a_comment_serves_its_group(self):
        text = """/// @name Numbers
/// @{
int f();

int g();
/// @}
int h();
"""
        self.assertEqual(names(text), ["h"])

    def test_rules_leave_declarations_out(self):
        text = """class Forward;
using Other = Forward;
struct BOptions {
  int x = 0;
};
/// A class.
class B : public A {
 public:
  B() = default;
  explicit B(const BOptions& options = {});
  B(const B& other);
  B& operator=(const B& other);
  B(int) = delete;
  ~B() override;
  void call() override;
  bool operator!=(const B& other) const;

 private:
  int y;
};
namespace detail {
void hidden();
}
"""
        self.assertEqual(names(text), ["x"])

    def test_reads_on_behind_initializers_with_braces(self):
        text = """/// A class.
struct B {
  /// Two numbers.
  B(int x) : x_{x}, y_{x} {}
  B(double x) : x_{x} {}
};
"""
        self.assertEqual(names(text), [])


if __name__ == "__main__":
    unittest.main()
