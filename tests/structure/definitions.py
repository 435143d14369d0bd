"""Finds what C++ code defines: types and functions, each with its place in the file.

As declarations.py, whose reading of statements it uses, this is no parser of C++.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from declarations import ARGUMENTS, CLASS, FUNCTION, class_name, clean, statements, without_template

NAMESPACE = re.compile(r"(?:inline\s+)?namespace\b\s*([\w:]*)")
ENUM = re.compile(r"enum\s+(?:class\s+|struct\s+)?(\w+)")
ACCESS = re.compile(r"\s*(?:public|protected|private)\s*:(?!:)")
QUALIFIER = re.compile(r"(?:[A-Za-z_]\w*\s*::\s*)+$")
TEST = re.compile(r"BOOST_\w+_TEST_CASE\w*\s*\(\s*(\w+)")
SUITE = re.compile(r"^BOOST_AUTO_TEST_SUITE\w*\s*\([^)\n]*\)", re.M)  # no semicolon ends it
INITIALIZER = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")  # behind the parameters of a constructor
ANONYMOUS = "(anonymous)"


class Type(NamedTuple):
    """A class, struct, union or enum of a namespace."""

    namespace: str
    name: str


class Function(NamedTuple):
    """A function with a body, or a member that is `= default` in a source."""

    namespace: str  # of the place where it is defined; parts without a name are ANONYMOUS
    name: str       # as it is written: "StepRunner::run"
    line: int       # the first one
    lines: int      # from the first one to the closing brace


def function_name(statement):
    """The name of the function that a statement defines, with the classes before it; None if it is no function."""
    test = TEST.match(statement)
    if test:
        return test[1]
    short = ARGUMENTS.sub("", statement)
    while short != statement:
        statement, short = short, ARGUMENTS.sub("", short)
    match = FUNCTION.search(statement)
    if not match:
        return None
    head = statement[:match.start()]
    if re.search(r"=|\b(return|using|typedef|friend|throw|static_assert|concept)\b", head):
        return None
    qualifier = QUALIFIER.search(head)
    return re.sub(r"\s+", "", qualifier[0] if qualifier else "") + re.sub(r"\s+", " ", match[1]).strip()


def is_initializer(statement, continued):
    """True if the braces behind the statement initialize a member in a constructor."""
    begins = continued and statement.startswith(",") or INITIALIZER.search(statement)
    return bool(begins) and re.search(r"[\w>]$", statement) is not None


@lru_cache(maxsize=None)  # tests of the checks read a tree several times
def definitions(text):
    """The Definitions of a file with this text."""
    return Definitions(text)


class Definitions:
    """The types and functions of one file."""

    def __init__(self, text):
        self.types, self.functions = [], []
        self.text = SUITE.sub("", clean(text))
        self.scan(0, len(self.text), "", "")

    def scan(self, begin, end, namespace, owner):
        """Reads the statements of a namespace, or those of the class `owner`."""
        head, place, at = None, begin, begin  # of a constructor whose members are being initialized
        for statement, inner, inner_end in statements(self.text, begin, end):
            start, at = at, (inner_end + 1 if inner is not None else at + len(statement) + 1)
            text = statement.strip()
            if inner is not None and is_initializer(text, head is not None):
                head, place = (head, place) if head is not None else (statement, start)
                continue
            if head is not None:
                statement, start, head = head, place, None
            while ACCESS.match(statement):
                cut = ACCESS.match(statement).end()
                statement, start = statement[cut:], start + cut
            start += len(statement) - len(statement.lstrip())
            self.add(without_template(statement), start, inner, inner_end, namespace, owner)

    def add(self, statement, start, inner, inner_end, namespace, owner):
        opened = NAMESPACE.match(statement)
        enum = ENUM.match(statement)
        if opened:
            if inner is not None:
                parts = (namespace, opened[1].strip(":") or ANONYMOUS)
                self.scan(inner, inner_end, "::".join(filter(None, parts)), "")
        elif statement.startswith("extern") and inner is not None and "(" not in statement:
            self.scan(inner, inner_end, namespace, owner)
        elif enum:
            if inner is not None and not owner:
                self.types.append(Type(namespace, enum[1]))
        elif CLASS.match(statement) and "(" not in statement:
            if inner is not None:
                name = class_name(statement)
                if name and not owner and "::" not in name:
                    self.types.append(Type(namespace, name))
                self.scan(inner, inner_end, namespace, f"{owner}{name or '(class)'}::")
        else:
            self.add_function(statement, start, inner, inner_end, namespace, owner)

    def add_function(self, statement, start, inner, inner_end, namespace, owner):
        name = function_name(statement)
        if name is None or inner is None and not re.search(r"=\s*(default|delete)$", statement):
            return
        end = start + len(statement) if inner is None else inner_end
        line = self.text.count("\n", 0, start) + 1
        self.functions.append(Function(namespace, owner + name, line, self.text.count("\n", start, end) + 1))
