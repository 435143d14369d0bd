"""Rule: files of one folder don't give the same name to things of anonymous namespaces that lie in different namespaces.

The sources of a folder are compiled in one translation unit (MEZZO_SOURCE_BATCH). There a name of the anonymous
namespace of mezzo::detail hides one of mezzo, without a word of the compiler, in functions of mezzo::detail.
"""

import os
import re
from collections import defaultdict

from declarations import clean
from limits import Count
from sources import short

LIMIT = 1  # namespaces
JOINED = "layers"  # all of its folders are one unit: framework/cmake/MezzoSources.cmake
BEGIN = re.compile(r"^(?:inline )?namespace ?([\w:]*) ?\{")
TYPE = re.compile(r"^(?:template <.*> )?(?:struct|class|enum class|enum|union) (\w+)|^using (\w+) =")
OTHER = re.compile(r"(\w+)\s*(\(|=|\{|;|\[)")
NO_NAMES = re.compile(r"^(?:static_assert|return|namespace|extern|using [\w:]+;|[A-Z_]+\()")


def names_of(line):
    """Names that a line at the margin declares: a type, a function, or several variables."""
    if match := TYPE.match(line):
        return [match[1] or match[2]]
    first = OTHER.search(line)
    if not first or " " not in line[:first.start()]:
        return []
    if first[2] == "(":
        return [first[1]]
    return [first[1]] + re.findall(r", (\w+) = ", line)


def anonymous_names(text):
    """(name, enclosing namespace, line number) of what the anonymous namespaces of a source hold."""
    opened = []  # names of namespaces; None for other braces
    for number, line in enumerate(clean(text).split("\n"), 1):
        if match := BEGIN.match(line):
            opened.append(match[1])
            line = line[match.end():]
        elif None not in opened and "" in opened and re.match(r"[A-Za-z]", line) and not NO_NAMES.match(line):
            for name in names_of(line):
                yield name, "::".join(filter(None, opened)), number
        for brace in re.findall(r"[{}]", line):
            if brace == "{":
                opened.append(None)
            elif opened:
                opened.pop()


def count(sources, _):
    declared = defaultdict(lambda: defaultdict(list))  # folder and name -> namespace -> places
    for path in sources.library:
        if not path.endswith(".cpp") or path.endswith(".isa.cpp"):
            continue
        folder = os.path.dirname(short(path))
        folder = JOINED if folder.startswith(JOINED + "/") else folder
        for name, namespace, number in anonymous_names("\n".join(sources.tree.lines(path))):
            declared[f"{folder}/{name}"][namespace].append(f"{path}:{number}")
    return {key: Count(len(places), min(map(min, places.values())),
                       f"{key.rsplit('/', 1)[-1]} is a name in the anonymous namespaces of {', '.join(sorted(places))}: "
                       f"{', '.join(sorted(sum(places.values(), [])))}")
            for key, places in declared.items()}
