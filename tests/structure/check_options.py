#!/usr/bin/env python3
"""Checks that each option of a saved class is described: an option that describe() forgets is lost by save(). And that
each layer has an entry in a table of saved classes, and each option of Trainer is compared between ranks, or may differ.

check_options.py ROOT. Every finding is one line; the exit code is 1 if there is any.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from layer_tables import findings_of_layers  # noqa: E402
from report import report  # noqa: E402

# Written for all layers, or said to be not saved (docs/saving.md).
NOT_DESCRIBED = {"named", "name", "dtype", "trainable", "weights"}

# Options of Trainer that may differ between ranks: only rank 0 writes, and all have their own strategy. Several ranks
# refuse eager.
NOT_COMPARED = {"callbacks", "default_root_dir", "eager", "enable_checkpointing", "enable_model_summary",
                "enable_progress_bar", "logger", "profiler", "strategy"}

STRUCT = re.compile(r"^struct (\w+)(?: : \w+)? \{(?:\};|\n(.*?)^\};)", re.M | re.S)
MEMBER = re.compile(r"^ +[\w:<>,&* ]+? (\w+)(?: =\s[^;]*|\{[^;]*\})?;", re.M)
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


def findings_of_ranks(texts):
    """Options of Trainer that compare_options() leaves out."""
    given = members(texts)["TrainerOptions"][0]
    compared = set()
    for text in texts:
        for body in re.findall(r"^void compare_options\(.*?\) \{(.*?)^\}", text, re.M | re.S):
            compared |= set(re.findall(r"\boptions\.(\w+)", body))
    missing = sorted(given - NOT_COMPARED - compared)
    return [f"TrainerOptions: compare_options() leaves out {member}" for member in missing]


def main(root):
    paths = sorted((Path(root) / "framework" / "mezzo").rglob("*.[ch]pp"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    findings = findings_of(texts) + findings_of_layers(root) + findings_of_ranks(texts)
    return report(findings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
