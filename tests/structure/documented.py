#!/usr/bin/env python3
"""Finds declarations of public headers without a docstring. documented.py [ROOT]

A docstring is a comment `///` above a declaration or `///<` beside it. The docstring of a group, `/// @{` to `/// @}`,
serves all declarations in it, as Doxygen's DISTRIBUTE_GROUP_DOC has it; so does a text above the group. A docstring
above a function also serves the functions that follow it without an empty line: overloads, a setter behind its getter.
By rule these need none:

- private members, namespaces `detail`, friends, `using Base::name`;
- special members (copy and move, default constructors, destructors, assignments), deleted and defaulted functions;
- overrides and `using Error::Error`: the base says what they do;
- structs of options and constructors of options alone: their fields and the class say all;
- other names of classes, `using max_norm = MaxNorm`;
- specializations of templates, traits of iterators, begin() and end(), operators != (the negation of ==).
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from check_tree import Tree  # noqa: E402
from declarations import CLASS, class_name, clean, function_name, statements, without_template  # noqa: E402
from report import report  # noqa: E402

ACCESS = re.compile(r"\s*(public|protected|private)\s*:(?!:)")
SKIPPED = re.compile(r"(friend|static_assert|extern|using\s+(namespace\s+)?[\w:<>,\s]*$)")
TRAITS = {"iterator_category", "value_type", "difference_type", "pointer", "reference", "begin", "end", "operator!="}
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=.*)?$", re.S)


class Place(NamedTuple):
    """Where a statement stands."""

    name: str  # of the class; "" in a namespace
    access: str


def name_of(statement, place, has_body):
    """The name that a statement declares and that needs a docstring, or None."""
    bare = without_template(statement)
    if CLASS.match(bare) and not has_body and "(" not in bare and " = " not in bare:
        return None  # declared first
    if not bare or SKIPPED.match(bare) or re.search(r"\boverride\b|=\s*(?:delete|default)\b", bare):
        return None
    if CLASS.match(bare) or bare.startswith("enum"):
        match = re.match(r"enum(?:\s+(?:class|struct))?\s+(\w+)", bare)
        name = match[1] if match else class_name(bare.split(":")[0])
        return None if name is None or name.endswith("Options") else name
    if re.match(r"template\s*<\s*>", statement.strip()):
        return None
    alias = re.match(r"using\s+(\w+)\s*=", bare)
    if alias:
        return None if re.match(r"using\s+\w+Options\b|using\s+\w+\s*=\s*\w+;?$", bare) else alias[1]
    function = constructor(bare, place.name) or function_name(bare)
    if function:
        return None if special(bare, function, place) else function
    if place.name or "constexpr" in bare:
        match = VARIABLE.search(bare)
        return match[1] if match else None
    return None


def constructor(bare, name):
    return name if name and re.match(rf"(?:explicit\s+|constexpr\s+)*{name}\s*\(", bare) else None


def special(bare, function, place):
    if function.startswith("~") or f"~{place.name}" in bare or re.match(r"[\w&]+\s*operator\s*=\s*\(", bare):
        return True
    if "operator=(" in bare.replace(" ", "") or function.replace(" ", "") == "operator=":
        return True
    if function == place.name:
        arguments = bare[bare.index("(") + 1:].split(")")[0].strip()
        return not arguments or bool(re.match(rf"(?:const\s+)?{place.name}\s*&&?\s*\w*$", arguments)
                                     or re.match(r"(?:const\s+)?\w*Options\s*&?\s*\w*\s*(?:=\s*\{\s*\})?$", arguments))
    return False


def documented(lines, first, last):
    """True if a docstring stands above line `first` or beside one up to `last`."""
    above = lines[first - 1].strip() if first else ""
    return (above.startswith("///") and not re.match(r"///(<|\s*@[{}])", above)
            or any("///<" in line for line in lines[first:last + 1]))


def groups(lines):
    """The lines that are in a group with a docstring, or between @cond and @endcond."""
    found, begins = set(), []
    for number, line in enumerate(lines):
        if re.match(r"\s*/// @(\{|cond)", line):
            begins.append(number)
        elif re.match(r"\s*/// @(\}|endcond)", line) and begins:
            begin = begins.pop()
            beside = lines[max(begin - 1, 0)], lines[begin + 1]
            if "@cond" in lines[begin] or any(re.match(r"\s*///(?!<)", one) for one in beside):
                found.update(range(begin, number))
    return found


def undocumented(text):
    """(line, name) of each declaration without a docstring."""
    code, lines = clean(text), text.splitlines()
    grouped = groups(lines)

    def scan(begin, end, place):
        access, served = place.access, -1  # the last line of a function whose docstring serves the next ones
        for statement, inner, inner_end in statements(code, begin, end):
            start = code.index(statement, begin) if statement else begin
            begin = start + len(statement)
            while match := ACCESS.match(statement):
                access, statement, start = match[1], statement[match.end():], start + match.end()
            opened = re.match(r"\s*(?:inline\s+)?namespace\b\s*([\w:]*)", statement)
            if opened and inner is not None:
                if "detail" not in opened[1] and opened[1]:
                    yield from scan(inner, inner_end, Place("", "public"))
                continue
            bare = without_template(statement)
            name = name_of(statement, place, inner is not None) if access != "private" else None
            first = code.count("\n", 0, start + len(statement) - len(statement.lstrip()))
            last = code.count("\n", 0, inner_end + 1 if inner is not None else begin)
            if CLASS.match(bare) or bare.startswith("enum"):
                last = first  # comments of members are not its own
            if not bare or bare.startswith(","):  # goes on behind braces of a list of initializers
                served = last if served >= 0 else -1
                continue
            is_function = bool(constructor(bare, place.name) or function_name(bare) or "operator" in bare)
            has_docstring = documented(lines, first, last) or (first in grouped and (is_function or not place.name))
            follows = is_function and first == served + 1
            if name and name not in TRAITS and not has_docstring and not follows:
                yield first + 1, name
            above = has_docstring and not any("///<" in line for line in lines[first:last + 1])
            served = last if is_function and (above or follows) else -1
            if inner is not None and CLASS.match(bare) and "(" not in bare and access != "private":
                inside = class_name(bare)
                if not inside or statement.strip().startswith("template <>"):
                    continue  # a specialization
                yield from scan(inner, inner_end, Place(inside, "private" if bare.startswith("class") else "public"))

    yield from scan(0, len(code), Place("", "public"))


def check(root):
    tree = Tree(root)
    for path in sorted(tree.public):
        if path.endswith(".hpp"):
            for line, name in undocumented((tree.root / path).read_text(encoding="utf-8")):
                yield f"{path}:{line}", f"{name} has no docstring"


def main():
    return report(list(check(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]))))


if __name__ == "__main__":
    sys.exit(main())
