#!/usr/bin/env python3
"""Checks that each option of a saved class is described: an option that describe() forgets is lost by save().

check_options.py ROOT. Every finding is one line; the exit code is 1 if there is any.
"""

import re
import sys
from pathlib import Path

# Written for all layers, or said to be not saved (docs/saving.md).
NOT_DESCRIBED = {"named", "name", "dtype", "trainable", "weights"}

STRUCT = re.compile(r"^struct (\w+)(?: : \w+)? \{(?:\};|\n(.*?)^\};)", re.M | re.S)
MEMBER = re.compile(r"^ +[\w:<>,&* ]+? (\w+)(?: = [^;]*|\{[^;]*\})?;", re.M)
FUNCTION = re.compile(r"^(?:static |inline )?void (describe\w*)\(Fields&(?: fields)?, (\w+)&(?: (\w+))?\) \{(.*?)\}$",
                      re.M | re.S)


def members(texts):
    """Names of the members by name of the struct: a list, since a loss and a metric may have the same name."""
    found = {}
    for text in texts:
        for name, body in STRUCT.findall(text):
            body = re.sub(r"//.*", "", body)
            found.setdefault(name, []).append(set(MEMBER.findall(body)))
    return found


def described(sources):
    """Names of the members that describe() names, by name of the struct, those of its helpers included."""
    functions = [match for text in sources for match in FUNCTION.findall(text)]
    helpers = {name: set(re.findall(rf"\b{object_}\.(\w+)", body)) for name, _, object_, body in functions}
    found = {}
    for name, options, object_, body in functions:
        if name != "describe":
            continue
        names = set(re.findall(rf"\b{object_}\.(\w+)", body))
        for helper in re.findall(r"(describe_\w+)\(", body):
            names |= helpers.get(helper, set())
        found.setdefault(options, []).append(names)
    return found


def findings_of(texts):
    structs, findings = members(texts), []
    for name, given in sorted(described(texts).items()):
        if name not in structs:
            findings.append(f"{name}: described, but no struct of this name was found")
            continue
        for names in given:
            missing = min((fields - NOT_DESCRIBED - names for fields in structs[name]), key=len)
            findings += [f"{name}: describe() leaves out {member}" for member in sorted(missing)]
    return findings


def main(root):
    paths = sorted((Path(root) / "framework" / "mezzo").rglob("*.[ch]pp"))
    findings = findings_of([path.read_text(encoding="utf-8") for path in paths])
    print("\n".join([*findings, f"{len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
