"""The code files of a tree as the rules of check_limits.py read them."""

import re
from functools import cached_property
from pathlib import Path

from check_tree import ROOTS, Tree
from definitions import ANONYMOUS, definitions

CODE = (".cpp", ".hpp")


class Sources:
    """The files of the library and of its tests, with the types and functions that each defines."""

    def __init__(self, root):
        self.tree = Tree(root)
        code = [path for path in self.tree.files if path.endswith(CODE)]
        self.library = [path for path in code if re.match(rf"(?:{'|'.join(ROOTS)})/mezzo/", path)]
        self.tests = [path for path in code if path.startswith("tests/")]

    @cached_property
    def defined(self):
        """The Definitions of each file."""
        return {path: definitions("\n".join(self.tree.lines(path))) for path in self.library + self.tests}

    @cached_property
    def namespaces(self):
        """The full names of all namespaces of the library."""
        found = set()
        for path in self.library:
            for one in self.defined[path].types + self.defined[path].functions:
                parts = namespace_parts(one.namespace)
                found.update("::".join(parts[:n + 1]) for n in range(len(parts)))
        return found


def namespace_parts(namespace):
    return [part for part in namespace.split("::") if part and part != ANONYMOUS]


def short(path):
    """framework/mezzo/core/shape.hpp -> core/shape.hpp"""
    return re.sub(rf"^(?:{'|'.join(ROOTS)})/mezzo/", "", path)


def stem(path):
    """The name of a file without all that follows its first dot: winograd.isa.cpp -> winograd"""
    return Path(path).name.split(".")[0]
