"""Rule: few files include one another in a circle.

A header and the sources of its name are one component; lists (.def) belong to none. All components that reach one
another by #include are one cycle, in whatever folders they lie. A cycle has the name of one of its components: the one
in the list of exceptions, else the one that most of the others include.
"""

from collections import defaultdict

from limits import Count
from sources import short, stem

LIMIT = 3  # components of a cycle


def component(path):
    folder = short(path).rpartition("/")[0]
    return f"{folder}/{stem(path)}" if folder else stem(path)


def include_graph(sources):
    """{component: components that it includes}"""
    graph = {component(path): set() for path in sources.library}
    library = set(sources.library)
    for path in sources.library:
        for include in sources.tree.includes(path):
            target = sources.tree.resolve(path, *include)
            if target in library and component(target) != component(path):
                graph[component(path)].add(component(target))
    return graph


def visited(graph, start, seen):
    """The components that can be reached from `start` and were not seen before, the deepest first."""
    seen.add(start)
    order, stack = [], [(start, iter(sorted(graph[start])))]
    while stack:
        for following in stack[-1][1]:
            if following not in seen:
                seen.add(following)
                stack.append((following, iter(sorted(graph[following]))))
                break
        else:
            order.append(stack.pop()[0])
    return order


def cycles(graph):
    """The sets of components that reach one another, by Kosaraju's algorithm; sets of one are left out."""
    order, seen = [], set()
    for start in sorted(graph):
        if start not in seen:
            order += visited(graph, start, seen)
    reverse = defaultdict(set)
    for source, targets in graph.items():
        for target in targets:
            reverse[target].add(source)
    seen = set()
    groups = [visited(reverse, start, seen) for start in reversed(order) if start not in seen]
    return [set(group) for group in groups if len(group) > 1]


def count(sources, keys):
    graph, found = include_graph(sources), {}
    paths = {component(path): path for path in reversed(sources.library)}
    for cycle in cycles(graph):
        users = {one: sum(one in graph[other] for other in cycle) for one in cycle}
        names = cycle & keys or {max(sorted(cycle), key=users.get)}
        for name in names:
            found[name] = Count(len(cycle), f"{paths[name]}:1",
                                f"{len(cycle)} components include one another: {', '.join(sorted(cycle))}")
    return found
