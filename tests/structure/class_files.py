"""Rule: the members of a class are defined in few sources. Members of its nested classes count as its own."""

from collections import defaultdict

from definitions import ANONYMOUS
from limits import Count
from sources import namespace_parts, short

LIMIT = 2  # sources of a class


def class_of(function, namespaces):
    """The full name of the outermost class that a function belongs to, or None."""
    outside = namespace_parts(function.namespace)
    parts = outside + function.name.split("::")
    for n in range(len(outside) + 1, len(parts)):
        if "::".join(parts[:n]) not in namespaces:
            return "::".join(parts[:n])
    return None


def count(sources, _):
    places = defaultdict(dict)  # class -> source -> line
    for path in sources.library:
        for function in sources.defined[path].functions if path.endswith(".cpp") else []:
            name = class_of(function, sources.namespaces)
            # Classes of one name in the anonymous namespaces of two sources are two classes.
            if name and ANONYMOUS not in function.namespace:
                places[name].setdefault(path, function.line)
    return {name: Count(len(lines), "{}:{}".format(*sorted(lines.items())[-1]),
                        f"class {name} is defined in {len(lines)} sources: {', '.join(map(short, sorted(lines)))}")
            for name, lines in places.items()}
