"""Rule: options of public headers show no member that users must leave out, such as `detail::Named named{};`."""

import re

from limits import Count
from sources import short

LIMIT = 0  # such members of a header
MEMBER = re.compile(r"^\s*detail::Named named\{\};|///<.*\bleave it out\b")


def count(sources, _):
    found = {}
    for path in sources.library:
        if path in sources.tree.public:
            lines = [number for number, line in enumerate(sources.tree.lines(path), 1) if MEMBER.search(line)]
            if lines:
                found[short(path)] = Count(len(lines), f"{path}:{lines[-1]}",
                                           f"{len(lines)} members that users must not set")
    return found
