#!/usr/bin/env python3
"""Compares programs with Keras and recipes with Lightning in Python and in C++. programs.py [ROOT]

A folder of FOLDERS has NAME.py and test_NAME.cpp. A C++ program may have LIMIT times the lines of its Python.
Blank lines, comments and docstrings of modules don't count, nor does the frame of a test: imports, includes, `using
namespace` and the lines that begin and end a suite and a case. Of recipes the parts that docs show are counted.

Docs show parts of both, side by side. A part stands between the comments `docs: begin` and `docs: end`, and the first
part of the Python is written as the first part of the C++.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path

from report import report

# By the kind of a generated part of the docs: `program NAME`, `recipe NAME`.
FOLDERS = {"program": "tests/parity/programs", "recipe": "tests/parity/lightning_recipes"}
ORIGINS = {"program": "Keras", "recipe": "Lightning"}
LIMIT = 1.25
FRAME = re.compile(r"\s*//|#include\b|using namespace\b|BOOST_AUTO_TEST_|}$")


class ProgramError(Exception):
    """A program that docs can't show."""


def files_of(root, kind, name):
    folder = Path(root) / FOLDERS[kind]
    return folder / f"{name}.py", folder / f"test_{name}.cpp"


def lines_of_python(text):
    first = (ast.parse(text).body or [None])[0]
    is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    rest = text.splitlines()[first.end_lineno if is_doc else 0:]
    return sum(1 for line in rest if line.strip() and not re.match(r"\s*#|(from \S+ )?import\b", line))


def lines_of_cpp(text):
    return sum(1 for line in text.splitlines() if line.strip() and not FRAME.match(line))


def check(root):
    """Findings of programs without their Python or with too many lines."""
    for kind, folder in FOLDERS.items():
        for cpp in sorted((Path(root) / folder).glob("test_*.cpp")):
            name = cpp.stem[len("test_"):]
            python, _ = files_of(root, kind, name)
            where = str(cpp.relative_to(root))
            if not python.is_file():
                yield where, f"{python.name} is no file of {folder}"
                continue
            left, right = python.read_text("utf-8"), cpp.read_text("utf-8")
            if kind == "recipe":
                left, right = "".join(marked_parts(python, "#")), "".join(marked_parts(cpp, "//"))
            expected, got = lines_of_python(left), lines_of_cpp(right)
            if got > LIMIT * expected:
                yield where, f"{got} lines are more than {LIMIT} times the {expected} lines of {python.name}"


def marked_parts(path, comment):
    parts, open_part = [], None
    for line in path.read_text("utf-8").splitlines(keepends=True):
        if line.strip() == f"{comment} docs: begin" and open_part is None:
            open_part = []
        elif line.strip() == f"{comment} docs: end" and open_part is not None:
            parts.append(textwrap.dedent("".join(open_part)))
            open_part = None
        elif "docs: begin" in line or "docs: end" in line:
            raise ProgramError(f"{path.name}: `{line.strip()}` stands in the wrong place")
        elif open_part is not None:
            open_part.append(line)
    if open_part is not None or not parts:
        raise ProgramError(f"{path.name} needs parts between `{comment} docs: begin` and `{comment} docs: end`")
    return parts


def side_by_side(root, kind, name):
    """Table with the parts of the Python on the left and those of the C++ on the right, in Markdown."""
    python, cpp = files_of(root, kind, name)
    folder = FOLDERS[kind]
    for path in (python, cpp):
        if not path.is_file():
            raise ProgramError(f"{path.name} is no file of {folder}")
    left, right = marked_parts(python, "#"), marked_parts(cpp, "//")
    if len(left) != len(right):
        raise ProgramError(f"{python.name} has {len(left)} parts, {cpp.name} {len(right)}")
    rows = "".join(f"<tr><td>\n\n```python\n{a}```\n\n</td><td>\n\n```cpp\n{b}```\n\n</td></tr>\n"
                   for a, b in zip(left, right))
    return (f"From `{folder}/{python.name}` and `{folder}/{cpp.name}`.\n\n"
            f"<table>\n<tr><th>{ORIGINS[kind]}</th><th>mezzo</th></tr>\n{rows}</table>\n")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    findings = list(check(root))
    return report(findings)


if __name__ == "__main__":
    sys.exit(main())
