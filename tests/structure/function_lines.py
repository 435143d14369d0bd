"""Rule: a function is short, in the library and in the tests: from its first line to its closing brace."""

from limits import Count
from sources import short

LIMIT = 60  # lines of a function


def count(sources, _):
    found = {}
    for path in sources.library + sources.tests:
        for function in sources.defined[path].functions:
            key = f"{short(path)} {function.name}"
            if key not in found or found[key].number < function.lines:  # the longest of overloads
                found[key] = Count(function.lines, f"{path}:{function.line}",
                                   f"{function.name} has {function.lines} lines")
    return found
