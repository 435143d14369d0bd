"""Tables of saved layers, layers/FOLDER/classes.cpp. Each layer has an entry in one of them, and mezzo.hpp includes the
header of each entry."""

import re
from pathlib import Path

LAYERS = "framework/mezzo/layers"
GATHERING = "framework/mezzo/mezzo.hpp"
INCLUDE = re.compile(r"^#include <(mezzo/layers/\w+/\w+\.hpp)>\n", re.M)
ENTRY = re.compile(r"\bsaved_layer<(\w+), \w+>\(\"(\w+)\"\)")
CLASS = re.compile(r"^class MEZZO_API (\w+)(?: final)? : public ", re.M)
IN_DETAIL = re.compile(r"^namespace (?:mezzo::)?detail \{$.*?^\}  // namespace (?:mezzo::)?detail$", re.M | re.S)

# Layers of functions of the program, and bases of other classes.
NOT_SAVED = {"Lambda", "PositionLayer", "RNNCell", "Wrapper"}


def tables(root):
    """(path, text) of each table."""
    return [(path, path.read_text(encoding="utf-8")) for path in sorted(Path(root, LAYERS).glob("*/classes.cpp"))]


def public_classes(text):
    """Exported classes of a header, without those in mezzo::detail."""
    return CLASS.findall(IN_DETAIL.sub("", text))


def findings_of_layers(root):
    """Layers without an entry, and entries whose name is not that of the class."""
    entries = [entry for _, text in tables(root) for entry in ENTRY.findall(text)]
    findings = [f"{name}: its entry has the name {given}" for name, given in entries if name != given]
    saved = {name for name, _ in entries}
    for path in sorted(Path(root, LAYERS).glob("*/*.hpp")):
        for name in public_classes(path.read_text(encoding="utf-8")):
            if name not in saved | NOT_SAVED:
                findings.append(f"{name}: has no entry in {LAYERS}/{path.parent.name}/classes.cpp, so it is not saved")
    return findings


def headers(root):
    """Headers of the layers in all tables; without private headers, which declare no public class."""
    found = {name for _, text in tables(root) for name in INCLUDE.findall(text)}
    return sorted(name for name in found
                  if public_classes(Path(root, "framework", name).read_text(encoding="utf-8")))


def generate_includes(root, write):
    """Findings of headers that mezzo.hpp lacks; with `write` they are added to it in alphabetical order."""
    path = Path(root, GATHERING)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    there = INCLUDE.findall(text)
    missing = [name for name in headers(root) if name not in there] if there else []
    if not missing:
        return
    if not write:
        for name in missing:
            yield GATHERING, f"<{name}> is missing; run python3 tests/structure/generate_docs.py"
        return
    first = INCLUDE.search(text).start()
    rest = INCLUDE.sub("", text)
    block = "".join(f"#include <{name}>\n" for name in sorted({*there, *missing}))
    path.write_text(rest[:first] + block + rest[first:], encoding="utf-8")
