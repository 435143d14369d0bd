"""Reads the rows of ops.def and its parts: NAME_OP(name, flags, "inputs", "attributes", "outputs", "torch name", ...)."""

import ast
import re
from typing import NamedTuple

ROW = re.compile(r"^\s*(MEZZO_\w*OP)\s*\(", re.M)
TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<punctuation>[(),{}])'
                   r'|(?P<word>[^\s"(),{}]+)', re.S)
INCLUDE = re.compile(r"^#include <(?:\w+/)+(\w+\.def)>$", re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)


class OpRow(NamedTuple):
    """One row. An argument that is not text, such as a number or a macro, is left out of the torch names."""

    macro: str
    name: str
    flags: str
    inputs: str
    attributes: str
    outputs: str
    torch_names: list


def with_includes(path):
    """The text of ops.def with the files that it includes, which lie beside it."""
    return INCLUDE.sub(lambda include: with_includes(path.parent / include[1]), path.read_text(encoding="utf-8"))


def read_arguments(text, begin):
    """The arguments of the call whose bracket opens just before `begin`: lists of (kind, text) of their tokens."""
    arguments, depth, at = [[]], 0, begin
    while True:
        token = TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"line {text.count(chr(10), 0, begin) + 1}: the row has no end")
        at = token.end()
        mark = token["punctuation"]
        if mark and mark in "({":
            depth += 1
        elif mark and mark in ")}":
            if depth == 0:
                return arguments
            depth -= 1
        elif mark and depth == 0:
            arguments.append([])
        elif token["string"] or token["word"]:
            arguments[-1].append(token)


def strings(argument):
    return [ast.literal_eval(token["string"]) for token in argument if token["string"]]


def word(argument):
    return " ".join(token["word"] for token in argument if token["word"])


def read_rows(text):
    """All rows, in the order of the file."""
    text = DIRECTIVE.sub("", text)
    rows = []
    for start in ROW.finditer(text):
        arguments = read_arguments(text, start.end())
        if len(arguments) < 5:
            name = f"{start[1]}({word(arguments[0])}, ...)"
            raise ValueError(f"{name} has {len(arguments)} arguments; expected 5 or more")
        texts = ["".join(strings(argument)) for argument in arguments[2:5]]
        torch = [name for argument in arguments[5:] for name in strings(argument)]
        rows.append(OpRow(start[1], word(arguments[0]), word(arguments[1]), *texts, torch))
    return rows
