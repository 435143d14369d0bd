"""Rule: no two files of the library have names of the same words in another order or number: rank_step, step_ranks."""

import os
from collections import defaultdict

from limits import Count
from sources import short, stem

LIMIT = 1  # names of the same words


def words(name):
    """The words of a name in alphabetical order, without the s of a plural."""
    return " ".join(sorted(word[:-1] if len(word) > 2 and word.endswith("s") else word for word in name.split("_")))


def count(sources, _):
    alike = defaultdict(lambda: defaultdict(set))  # words -> name -> paths
    for path in sources.library:
        alike[words(stem(path))][stem(path)].add(path)
    found = {}
    for names in alike.values():
        key = " / ".join(sorted(names))
        places = [f"{name} in {', '.join(sorted({os.path.dirname(short(path)) for path in paths}))}"
                  for name, paths in sorted(names.items())]
        found[key] = Count(len(names), f"{min(map(min, names.values()))}:1", f"names alike: {'; '.join(places)}")
    return found
