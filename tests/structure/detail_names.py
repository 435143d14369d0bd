"""Rule: no type of mezzo::detail has the name of one of mezzo, which it would hide in code of mezzo::detail."""

from limits import Count

LIMIT = 1  # namespaces


def count(sources, _):
    places = {}  # name -> namespace -> first place
    for path in sources.library:
        if not path.endswith(".hpp"):
            continue
        for one in sources.defined[path].types:
            if one.namespace in ("mezzo", "mezzo::detail"):
                places.setdefault(one.name, {}).setdefault(one.namespace, path)
    return {name: Count(len(found), f"{found['mezzo::detail']}:1",
                        f"{name} is a type of mezzo, in {found['mezzo']}, and of mezzo::detail")
            for name, found in places.items() if len(found) > 1}
