#!/usr/bin/env python3
"""Shows that programs.py counts lines, and that generate_docs.py shows programs side by side."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from generate_docs import generate  # noqa: E402
from programs import FOLDERS, check, lines_of_cpp, lines_of_python  # noqa: E402

FOLDER, RECIPES = FOLDERS["program"], FOLDERS["recipe"]

PYTHON = '''"""Title

of two lines"""

import keras


def record():
    # docs: begin
    model = keras.Sequential()  # counts
    # docs: end
    # A comment.
    return {}
'''
CPP = """// Title.
#include <mezzo/mezzo.hpp>

{
  // docs: begin
  Sequential model;  // counts
  if (model) {
    run();
  }
  // docs: end
}
"""
PAGE = "docs/coming.md"
TABLE = f"""head
<!-- generated: program a -->

From `{FOLDER}/a.py` and `{FOLDER}/test_a.cpp`.

<table>
<tr><th>Keras</th><th>mezzo</th></tr>
<tr><td>

```python
model = keras.Sequential()  # counts
```

</td><td>

```cpp
Sequential model;  // counts
if (model) {{
  run();
}}
```

</td></tr>
</table>

<!-- end: program a -->
tail
"""


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def findings(self, write=False):
        return [text for document, text in generate(self.root, write) if document == PAGE]

    def test_lines(self):
        self.assertEqual(lines_of_python(PYTHON), 3)
        self.assertEqual(lines_of_python("# comment\nx = 1\n"), 1)
        self.assertEqual(lines_of_python(""), 0)
        self.assertEqual(lines_of_cpp(CPP), 5)

    def test_limit(self):
        self.write(f"{FOLDER}/a.py", "x = 1\n" * 4)
        self.write(f"{FOLDER}/test_a.cpp", "x;\n\n  // y\n" * 5)
        self.assertEqual(list(check(self.root)), [])
        self.write(f"{FOLDER}/test_a.cpp", "x;\n" * 6)
        self.write(f"{FOLDER}/test_b.cpp", "x;\n")
        self.assertEqual(list(check(self.root)), [
            (f"{FOLDER}/test_a.cpp", "6 lines are more than 1.25 times the 4 lines of a.py"),
            (f"{FOLDER}/test_b.cpp", f"b.py is no file of {FOLDER}")])

    def test_table(self):
        self.write(PAGE, "head\n<!-- generated: program a -->\nstale\n<!-- end: program a -->\ntail\n")
        self.assertEqual(self.findings(), [f"a.py is no file of {FOLDER}"])
        self.write(f"{FOLDER}/a.py", PYTHON)
        self.write(f"{FOLDER}/test_a.cpp", CPP)
        self.assertEqual(len(self.findings()), 1)
        self.assertEqual(self.findings(write=True), [])
        self.assertEqual(self.findings(), [])
        self.assertEqual((self.root / PAGE).read_text(), TABLE)

    def test_recipes(self):
        self.write(PAGE, TABLE.replace("program a", "recipe a"))
        self.write(f"{RECIPES}/a.py", PYTHON)
        self.write(f"{RECIPES}/test_a.cpp", CPP)
        self.assertEqual(self.findings(write=True), [])
        self.assertEqual((self.root / PAGE).read_text(), TABLE.replace("program a", "recipe a").replace(
            FOLDER, RECIPES).replace("Keras", "Lightning"))
        self.write(f"{RECIPES}/test_a.cpp", "y;\n// docs: begin\nx;\nx;\n// docs: end\ny;\n")
        self.assertEqual(list(check(self.root)), [
            (f"{RECIPES}/test_a.cpp", "2 lines are more than 1.25 times the 1 lines of a.py")])

    def test_errors(self):
        self.write(PAGE, "<!-- generated: program a -->\n<!-- end: program a -->\n")
        self.write(f"{FOLDER}/a.py", PYTHON)
        self.write(f"{FOLDER}/test_a.cpp", CPP + CPP)
        self.assertEqual(self.findings(), ["a.py has 1 parts, test_a.cpp 2"])
        for text in ("x;\n", "// docs: begin\nx;\n"):
            self.write(f"{FOLDER}/test_a.cpp", text)
            self.assertEqual(self.findings(), ["test_a.cpp needs parts between `// docs: begin` and `// docs: end`"])
        for text in ("// docs: end\n", "// docs: begin\n// docs: begin\n", "x;  // docs: begin\n"):
            self.write(f"{FOLDER}/test_a.cpp", text)
            self.assertIn("stands in the wrong place", self.findings()[0])


if __name__ == "__main__":
    unittest.main()
