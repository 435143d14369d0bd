"""Rule: a header defines few types.

Classes, structs, unions and enums of namespaces count; nested ones, aliases and specializations of templates don't.
A struct of options counts with what it is named after, not for itself: `DenseOptions` beside the class `Dense`,
`PadImagesOptions` beside the function `pad_images`, `HuberFunctionOptions` beside the function `huber`. Without these in
the same header it counts.
"""

import re

from declarations import declarations
from limits import Count
from sources import short

LIMIT = 5  # types of a header


def letters(name):
    return name.replace("_", "").lower()


def belongs_to(name, owners):
    """True if a struct of options is named after one of the owners, whose names are given as letters()."""
    match = re.fullmatch(r"(\w+?)(?:Function)?Options", name)
    return bool(match) and (letters(match[1]) in owners or letters(name[:-len("Options")]) in owners)


def count(sources, _):
    found = {}
    for path in sources.library:
        types = {one.name for one in sources.defined[path].types} if path.endswith(".hpp") else set()
        if len(types) > LIMIT:
            functions = {name for _, name in declarations("\n".join(sources.tree.lines(path))).functions}
            owners = set(map(letters, types | functions))
            types = {name for name in types if not belongs_to(name, owners)}
        if types:
            found[short(path)] = Count(len(types), f"{path}:1", f"{len(types)} types: {', '.join(sorted(types))}")
    return found
