"""Reads the qualified names in symbols that follow the Itanium C++ ABI."""

import re

# https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling-operator
OPERATORS = {
    "nw": "new", "na": "new[]", "dl": "delete", "da": "delete[]", "ps": "+", "ng": "-", "ad": "&", "de": "*", "co": "~",
    "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%", "an": "&", "or": "|", "eo": "^", "aS": "=", "pL": "+=",
    "mI": "-=", "mL": "*=", "dV": "/=", "rM": "%=", "aN": "&=", "oR": "|=", "eO": "^=", "ls": "<<", "rs": ">>",
    "lS": "<<=", "rS": ">>=", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "ss": "<=>",
    "nt": "!", "aa": "&&", "oo": "||", "pp": "++", "mm": "--", "cm": ",", "pm": "->*", "pt": "->", "cl": "()",
    "ix": "[]"}


def qualified_name(symbol):
    """The parts of a function's or variable's name: _ZN5mezzo5Shape4sizeEv -> ["mezzo", "Shape", "size"].

    None for instances of templates, for names outside of a namespace, and for what the compiler makes (vtables, type
    information, thunks, guards).
    """
    match = re.match(r"_ZN[rVK]*[RO]?", symbol)
    if not match:
        return None
    parts, at = [], match.end()
    while at < len(symbol) and symbol[at] != "E":
        number = re.match(r"\d+", symbol[at:])
        if number:
            begin = at + number.end()
            at = begin + int(number[0])
            parts.append(symbol[begin:at])
        elif re.match(r"[CD]\d", symbol[at:]):  # constructor, destructor
            parts.append(("" if symbol[at] == "C" else "~") + (parts[-1] if parts else ""))
            at += 2
        elif symbol[at] == "B":  # ABI tag
            tag = re.match(r"B(\d+)", symbol[at:])
            at += tag.end() + int(tag[1])
        elif symbol[at:at + 2] in OPERATORS:
            parts.append("operator" + OPERATORS[symbol[at:at + 2]])
            at += 2
        elif symbol[at:at + 2] == "cv" and parts:  # conversion: the type that follows is part of the name
            return parts + ["operator"]
        else:
            return None
    return parts or None
