"""Rules: no type of mezzo::detail has the name of one of mezzo, which it would hide in code of mezzo::detail.
No type is defined in two headers under one name: a program would use one definition for both.
"""

from definitions import ANONYMOUS
from limits import Count

LIMIT = 1  # types


def places_of(sources):
    """Name -> namespace -> headers that define it."""
    places = {}
    for path in sources.library:
        if not path.endswith(".hpp"):
            continue
        for one in sources.defined[path].types:
            places.setdefault(one.name, {}).setdefault(one.namespace, {})[path] = None
    return {name: {namespace: list(paths) for namespace, paths in found.items()} for name, found in places.items()}


def count(sources, _):
    out = {}
    for name, found in places_of(sources).items():
        for namespace, paths in found.items():
            if len(paths) > 1 and ANONYMOUS not in namespace:
                out[f"{namespace}::{name}"] = Count(
                    len(paths), f"{paths[1]}:1", f"{namespace}::{name} is a type of two headers, also of {paths[0]}")
        if "mezzo" in found and "mezzo::detail" in found:
            out[name] = Count(2, f"{found['mezzo::detail'][0]}:1",
                              f"{name} is a type of mezzo, in {found['mezzo'][0]}, and of mezzo::detail")
    return out
