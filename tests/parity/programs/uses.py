#!/usr/bin/env python3
"""Lists the names of Keras, with their keyword arguments, that the programs of a folder use. uses.py [FOLDER]

A line is a name, `keras.layers.Dense`, or a name with an argument, `keras.layers.Dense(activation="relu")`; strings and
bools are part of it. `.fit(epochs)` is a method of any object, `class(keras.Model)` a class derived from one of Keras.
"""

import ast
import sys
from pathlib import Path


class Names(ast.NodeVisitor):
    """Collects the names of a program."""

    def __init__(self):
        self.short, self.found = {"keras": "keras"}, set()

    def name_of(self, node):
        """`keras.layers.Dense` for `layers.Dense`, `.fit` for a method of another object, None for other expressions."""
        if isinstance(node, ast.Name):
            return self.short.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.name_of(node.value)
            return f"{owner}.{node.attr}" if owner and owner.startswith("keras") else f".{node.attr}"
        return None

    def visit_Assign(self, node):
        targets, values = node.targets[:1], [node.value]
        if isinstance(targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            targets, values = targets[0].elts, node.value.elts
        for target, value in zip(targets, values):
            name = self.name_of(value)
            if isinstance(target, ast.Name) and name and name.startswith("keras"):
                self.short[target.id] = name
        self.generic_visit(node)

    def visit_Attribute(self, node):
        name = self.name_of(node)
        if name.startswith("keras"):
            self.found.add(name)
        self.generic_visit(node)

    def visit_Call(self, node):
        name = self.name_of(node.func)
        if name:
            self.found.add(name)
            for argument in node.keywords:
                value = getattr(argument.value, "value", None)
                shown = f"={value!r}" if isinstance(value, (str, bool)) and argument.arg not in ("name", None) else ""
                self.found.add(f"{name}({argument.arg}{shown})")
        self.generic_visit(node)

    def visit_ClassDef(self, node):
        self.found.update(f"class({self.name_of(base)})" for base in node.bases)
        self.found.update(f"def {part.name}" for part in node.body if isinstance(part, ast.FunctionDef))
        self.generic_visit(node)


def uses(folder):
    out = set()
    for path in sorted(Path(folder).glob("*.py")):
        if path.with_name(f"test_{path.stem}.cpp").is_file():
            names = Names()
            names.visit(ast.parse(path.read_text("utf-8")))
            out |= names.found
    return sorted(out)


if __name__ == "__main__":
    print("\n".join(uses(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)))
