"""Docstrings of members: shared ones, and texts by rule where a header needs none.

A function serves the docstring of the one above it if no empty line is between them, or if both are in one group, from
`/// @{` to `/// @}`: tests/structure/documented.py has the same rules. Members that need no docstring get a text that
says what they are: overrides, options, constructors of options, other names of types, traits of iterators.
"""

import re
from functools import lru_cache
from html import escape
from pathlib import Path

ROOTS = [Path(__file__).resolve().parents[2] / top for top in ("framework", "models", "datasets")]
TRAITS = {"iterator_category", "value_type", "difference_type", "pointer", "reference"}
FIXED = {"begin": "For range-based <code>for</code>.", "end": "For range-based <code>for</code>.",
         "operator!=": "The negation of <code>==</code>."}


@lru_cache(maxsize=None)
def lines_of(path):
    found = next((root / path for root in ROOTS if (root / path).is_file()), None)
    return tuple(found.read_text(encoding="utf-8").splitlines()) if found else ()


def place(element):
    """(path, line) of a declaration."""
    location = element.find("location")
    if location is None:
        return "", 0
    return (location.get("declfile") or location.get("file") or "",
            int(location.get("declline") or location.get("line") or 0))


def follow(before, element):
    """True if the docstring above `before` serves `element` too."""
    (path, first), (other, last) = place(before), place(element)
    if path != other or first > last:
        return False
    between = lines_of(path)[first:last - 1]
    if all(line.strip() for line in between) and not any(re.match(r"\s*///(?!<)", line) for line in between):
        return True
    return not any("@}" in line for line in between) and in_group(path, first)


def in_group(path, line):
    marks = [one for one in lines_of(path)[:line] if re.match(r"\s*/// @[{}]", one)]
    return bool(marks) and "@{" in marks[-1]


def text_by_rule(member, compound, link):
    """The text of a member without docstring, or None; `link(refid, text)` makes a link."""
    base = member.element.find("reimplements")
    if base is not None:
        return f"<p>Overrides {link(base.get('refid'), member.name)} of a base class.</p>"
    if member.name in FIXED:
        return f"<p>{FIXED[member.name]}</p>"
    if member.name in TRAITS:
        return "<p>As iterators of the standard library have it.</p>"
    if member.kind == "typedef":
        options = member.name.endswith("Options")
        return f"<p>{options_text(member.name) if options else 'Another name of the type.'}</p>"
    arguments = member.element.findtext("argsstring") or ""
    if compound is None or member.name != compound.name.rpartition("::")[2]:
        return "<p>As the compiler makes it.</p>" if "=default" in arguments else None
    if "=default" in arguments or arguments == "()":
        return "<p>With the defaults of all fields.</p>"
    if "Options" in arguments or "options" in arguments:
        return "<p>Arguments without a name are fields of the options.</p>"
    return None


def options_text(name):
    return f"Options of <code>{escape(name.rpartition('::')[2].removesuffix('Options'))}</code>."
