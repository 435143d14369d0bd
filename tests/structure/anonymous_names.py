"""Rules for the anonymous namespaces of the sources of a folder, which are compiled in one translation unit
(MEZZO_SOURCE_BATCH).

- No name is in the anonymous namespaces of two namespaces. That of mezzo::detail hides that of mezzo in functions of
  mezzo::detail, without a word of the compiler.
- No name is defined in two files. Overloads, whose parameters have other types, and equal aliases are no clash. A large
  folder has several units: the compiler finds a clash only if both files are in one, perhaps when another file comes.
"""

import os
import re
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from declarations import ATTRIBUTE, CLASS, TEMPLATE, clean, function_name, class_name, matching, statements
from limits import Count
from sources import short

LIMIT = 1  # namespaces, or files
JOINED = "layers"  # all of its folders are one unit: framework/cmake/MezzoSources.cmake
NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\b\s*([\w:]*)")
ALIAS = re.compile(r"^using\s+(\w+)\s*=\s*(.*)", re.S)
NO_NAMES = re.compile(r"^(?:static_assert|return|extern|using|namespace|friend|typedef|[A-Z_]+\s*\()|^$")
VARIABLE = re.compile(r"[^=]*[\s&*>]([A-Za-z_]\w*)\s*(?:\[[^]]*\]\s*)*(?:=|$)")


class Name(NamedTuple):
    """A name in an anonymous namespace."""

    name: str
    namespace: str  # the one around it
    line: int
    form: str       # functions: types of the template's and the function's parameters; aliases: the type; others: ""


def parameter_types(text):
    """Types of the parameters between the brackets of a function or template, without their names and defaults."""
    parts, depth, start = [], 0, 0
    for i, one in enumerate(text + ","):
        depth += (one in "(<[{") - (one in ")>]}")
        if one == "," and depth == 0:
            part = re.split(r"\s=\s", text[start:i])[0]
            parts.append(re.sub(r"(?<=[\s&*>])\w+(?:\[\])?\s*$", "", re.sub(r"\s+", " ", part).strip()).strip())
            start = i + 1
    return ", ".join(parts)


def form_of_function(head, statement, name):
    begin = statement.index("(", re.search(rf"\b{re.escape(name)}\s*\(", statement).start())
    return f"{head}({parameter_types(statement[begin + 1:matching(statement, begin, '(', ')') - 1])})"


def names_of(statement, has_body):
    """Pairs of name and form of what a statement at namespace scope declares."""
    statement, head = ATTRIBUTE.sub(" ", statement).strip(), ""
    while TEMPLATE.match(statement):
        begin = statement.index("<")
        end = matching(statement, begin, "<", ">")
        head, statement = head + f"<{parameter_types(statement[begin + 1:end - 1])}>", statement[end:].strip()
    if match := ALIAS.match(statement):
        return [(match[1], f"{head}using {re.sub(r'[ ]+', ' ', match[2])}")]
    if NO_NAMES.match(statement):
        return []
    if CLASS.match(statement) and "(" not in statement and "=" not in statement:
        name = class_name(statement) if has_body else None
        return [(name, "")] if name and "::" not in name else []
    if match := re.match(r"enum\s+(?:class\s+|struct\s+)?(\w+)", statement):
        return [(match[1], "")]
    if name := function_name(statement):
        return [(name, form_of_function(head, statement, name))] if re.fullmatch(r"\w+", name) else []
    first = VARIABLE.match(statement)
    if not first:
        return []
    return [(first[1], "")] + [(name, "") for name in re.findall(r", (\w+) = ", statement[first.end():])]


def scan(text, begin, end, opened):
    start = begin
    for statement, inner, inner_end in statements(text, begin, end):
        place, start = start, (start + len(statement) if inner is None else inner_end) + 1
        place += len(statement) - len(statement.lstrip())
        if (match := NAMESPACE.match(statement.strip())) and inner is not None:
            yield from scan(text, inner, inner_end, [*opened, match[1]])
        elif "" in opened:
            for name, form in names_of(statement, inner is not None):
                yield Name(name, "::".join(filter(None, opened)), text.count("\n", 0, place) + 1, form)


@lru_cache(maxsize=None)
def anonymous_names(text):
    """The Names of a source."""
    text = clean(text)
    return tuple(scan(text, 0, len(text), []))


def by_folder(sources):
    """(folder and name) -> (path, Name) of all sources."""
    found = defaultdict(list)
    for path in sources.library:
        if path.endswith(".cpp") and not path.endswith(".isa.cpp"):
            folder = os.path.dirname(short(path))
            folder = JOINED if folder.startswith(JOINED + "/") else folder
            for one in anonymous_names("\n".join(sources.tree.lines(path))):
                found[f"{folder}/{one.name}"].append((path, one))
    return found


def count_namespaces(sources, _):
    """Namespaces whose anonymous namespaces have a name, for each folder and name."""
    out = {}
    for key, found in by_folder(sources).items():
        namespaces = sorted({one.namespace for _, one in found})
        places = sorted(f"{path}:{one.line}" for path, one in found)
        out[key] = Count(len(namespaces), places[0], f"{found[0][1].name} is a name in the anonymous namespaces of "
                                                     f"{', '.join(namespaces)}: {', '.join(places)}")
    return out


def clashing(found):
    """Places of a name in one namespace that can't be in one unit, those of the largest number of files."""
    groups = defaultdict(dict)  # form -> path -> place
    for path, one in found:
        groups[one.form].setdefault(path, f"{path}:{one.line}")
    alike = [list(places.values()) for form, places in groups.items() if "(" in form or not form]
    aliases = [places for form, places in groups.items() if "using " in form]
    others = [places for form, places in groups.items() if "using " not in form]
    if aliases and len(aliases) + len(others) > 1:  # an alias and something else of its name
        alike.append(list({path: place for places in groups.values() for path, place in places.items()}.values()))
    return max(alike, key=len, default=[])


def count_twice(sources, _):
    """Files that define the same in an anonymous namespace, for each folder and name."""
    out = {}
    for key, found in by_folder(sources).items():
        namespaces = {one.namespace for _, one in found}
        if places := sorted(max((clashing([x for x in found if x[1].namespace == namespace]) for namespace in namespaces),
                                key=len)):
            out[key] = Count(len(places), places[0],
                             f"{found[0][1].name} is in the anonymous namespaces of {', '.join(places)}")
    return out
