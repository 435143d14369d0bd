"""Finds what C++ headers declare: functions at namespace scope and classes, each with its namespace.

This is no parser of C++. It takes comments, literals and preprocessor lines away, follows the braces and looks at the
statements of namespaces. Declarations that macros make are not found.
"""

import re
from functools import lru_cache
from typing import NamedTuple

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
                   r'|^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*', re.S | re.M)
CLASS = re.compile(r"^(?:class|struct|union)\b")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\balignas\s*\([^)]*\)|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b(?!\s*\()")
TEMPLATE = re.compile(r"^template\s*<")
MARK = re.compile(r"[({;}]")  # ends a statement, or begins a part of it that is skipped
BRACKETS = {pair: re.compile(f"[{re.escape(pair)}]") for pair in ("()", "{}", "<>")}
ARGUMENTS = re.compile(r"(?<!operator)(?<=\w)<[^<>]*>")  # of templates
FUNCTION = re.compile(r"(operator\s*(?:\(\s*\)|[^\s\w(]+|\w[\w:\s<>*&]*?)|~?[A-Za-z_]\w*)\s*\(")


class Declarations(NamedTuple):
    """Pairs of namespace and name, for example ("mezzo::detail", "mix")."""

    functions: set
    classes: set
    namespaces: set


def clean(text):
    """The code without comments, literals and preprocessor lines; all lines keep their numbers."""
    def blank(match):
        return (" " if match[0].startswith(("/", "#", " ", "\t")) else '""') + "\n" * match[0].count("\n")

    return NOISE.sub(blank, text)


def matching(text, begin, opening, closing):
    """The place behind the bracket that closes the one at `begin`."""
    depth = 0
    for bracket in BRACKETS[opening + closing].finditer(text, begin):
        depth += 1 if bracket[0] == opening else -1
        if depth == 0:
            return bracket.end()
    return len(text)


def statements(text, begin, end):
    """(text, begin of body, end of body) of each statement between two places; without a body both are None."""
    start = i = begin
    while mark := MARK.search(text, i, end):
        if mark[0] == "(":
            i = matching(text, mark.start(), "(", ")")
        elif mark[0] == "{":
            close = matching(text, mark.start(), "{", "}")
            yield text[start:mark.start()], mark.end(), close - 1
            start = i = close
        else:
            yield text[start:mark.start()], None, None
            start = i = mark.end()


def without_template(statement):
    statement = ATTRIBUTE.sub(" ", statement).strip()
    while TEMPLATE.match(statement):
        statement = statement[matching(statement, statement.index("<"), "<", ">"):].strip()
    return statement


def class_name(statement):
    """The name in `class Name final : public Base`; None for specializations of templates."""
    head = re.split(r"(?<!:):(?!:)", statement)[0]
    words = re.findall(r"[\w:]+", head)
    words = [word for word in words[1:] if word != "final"]
    return words[-1] if words and "<" not in head else None


def function_name(statement):
    """The name of the function that a statement declares, or None."""
    while ARGUMENTS.search(statement):
        statement = ARGUMENTS.sub("", statement)
    match = FUNCTION.search(statement)
    if not match:
        return None
    head = statement[:match.start()].strip()
    if not head or re.search(r"=|\b(return|using|typedef|friend|throw|static_assert)\b", head) or head.endswith("::"):
        return None
    return re.sub(r"\s+", " ", match[1])


def scan(text, namespace, found):
    for statement, begin, end in statements(text, 0, len(text)):
        statement = without_template(statement)
        opened = re.match(r"(?:inline\s+)?namespace\b\s*([\w:]*)", statement)
        if opened and begin is not None:
            inner = "::".join(filter(None, (namespace, opened[1])))
            found.namespaces.add(inner)
            scan(text[begin:end], inner, found)
        elif statement.startswith("extern") and begin is not None and "(" not in statement:
            scan(text[begin:end], namespace, found)
        elif CLASS.match(statement) and "(" not in statement:
            if begin is not None and class_name(statement):
                found.classes.add((namespace, class_name(statement)))
        elif not statement.startswith("enum") and function_name(statement):
            found.functions.add((namespace, function_name(statement)))


@lru_cache(maxsize=None)  # tests of these checks read a tree several times
def declarations(text):
    found = Declarations(set(), set(), set())
    scan(clean(text), "", found)
    return found
