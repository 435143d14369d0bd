#!/usr/bin/env python3
"""Writes the parts of the docs that are made from tables, between markers. generate_docs.py [--check] [ROOT]

It also adds headers of layers that a table of saved layers includes to mezzo.hpp (layer_tables.py).

A generated part stands between `<!-- generated: NAME -->` and `<!-- end: NAME -->`. The part `program NAME` of any
document shows a program with Keras in Python and the same in C++, `recipe NAME` one with Lightning (programs.py).

With --check nothing is written, and three things are findings: a part that is not current; a code block that a line
`<!-- file: PATH -->` marks and that does not occur in the file PATH of the tree, letter for letter; and a path in
backticks that is no file of the tree.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import catalogue  # noqa: E402
from folders import FOLDERS, direct_uses  # noqa: E402
from layer_tables import generate_includes  # noqa: E402
from programs import ProgramError, side_by_side  # noqa: E402
from ops_def import read_rows, with_includes  # noqa: E402
from report import report  # noqa: E402
import fewer_bits  # noqa: E402
import records  # noqa: E402

OPS_DEF = "framework/mezzo/ops/rows/ops.def"
SOURCE = r"cpp|hpp|C|def|py|sh|ipynb|json|cmake|md"
PATH = re.compile(rf"`((?:[\w.-]+/)+[\w.-]+\.(?:{SOURCE}))`")
PATH_ROOTS = ("", "framework/mezzo", "models/mezzo", "datasets/mezzo")  # `ops/conv2d.cpp` is framework/mezzo/ops/...
BLOCK = re.compile(r"^<!-- file: (?P<path>\S+) -->\n(?:\s*\n)*(?P<fence>```+|~~~+)[^\n]*\n(?P<code>.*?)^(?P=fence)\s*$",
                   re.M | re.S)
MARKER = re.compile(r"^<!-- file: .*$", re.M)
PROGRAM = re.compile(r"^<!-- generated: (?P<part>(?P<kind>program|recipe) (?P<name>\w+)) -->$", re.M)


class Part(NamedTuple):
    """A generated part of a document: `make(root)` returns its text, or None if its source does not exist."""

    document: str
    name: str
    make: object


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def folder_table(_):
    def code(names):
        return ", ".join(f"`{name}`" for name in names)

    def uses(folder):
        only = f"; public headers alone of {code(folder.only_public)}" if folder.only_public else ""
        return code(folder.uses) + only.replace("of `*`", "everywhere")

    return table(["folder", "idea", "may use"],
                 [[f"`{name}`", folder.idea, uses(folder)] for name, folder in FOLDERS.items()])


def folder_drawing(_):
    def node(name):  # with a prefix, since "graph" is a keyword of Mermaid
        return "f_" + re.sub(r"\W", "_", name)

    lines = ["```mermaid", "flowchart BT"]
    lines += [f'  {node(name)}["{name}"]' for name in FOLDERS]
    lines += [f"  {node(name)} --> {node(used)}" for name in FOLDERS for used in direct_uses(name)]
    return "\n".join([*lines, "```"]) + "\n"


def op_table(root):
    path = Path(root) / OPS_DEF
    if not path.is_file():
        return None
    return table(["op", "inputs", "attributes", "outputs", "torch names"],
                 [[row.name, row.inputs, row.attributes, row.outputs, ", ".join(row.torch_names)]
                  for row in read_rows(with_includes(path))])


def parts():
    return [Part("docs/architecture.md", "folders", folder_table),
            Part("docs/architecture.md", "arrows", folder_drawing),
            Part("docs/ops.md", "ops", op_table),
            Part("docs/performance.md", "results", lambda root: records.overview(Path(root), table)),
            Part("docs/benchmarks/notes.md", "records", lambda root: records.tables(Path(root), table)),
            *(Part("docs/fewer_bits.md", f"fewer bits {task}",
                   lambda root, task=task: fewer_bits.task_table(root, task, table))
              for task in fewer_bits.TASKS),
            Part("docs/fewer_bits.md", "fewer bits generation", lambda root: fewer_bits.generation(root, table)),
            Part("docs/fewer_bits.md", "fewer bits finetuning", lambda root: fewer_bits.finetuning(root, table)),
            *(Part("docs/catalogue.md", name, make) for name, make in catalogue.tables(table))]


def program_parts(root):
    return [Part(document, program["part"],
                 lambda top, kind=program["kind"], name=program["name"]: side_by_side(top, kind, name))
            for document, text in documents(root) for program in PROGRAM.finditer(text)]


def replace_part(text, part, new):
    """The document with the new text between the markers of a part; None if they are not there."""
    begin, end = f"<!-- generated: {part.name} -->", f"<!-- end: {part.name} -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        return None
    return text[:text.index(begin) + len(begin)] + "\n\n" + new + "\n" + text[text.index(end):]


def generate(root, write):
    """Findings of parts that are not current; with `write` they are brought up to date."""
    for part in [*parts(), *program_parts(root)]:
        try:
            new = part.make(root)
        except (catalogue.CatalogueError, ProgramError) as error:
            yield part.document, str(error)
            continue
        if new is None:
            continue
        path = Path(root) / part.document
        old = path.read_text(encoding="utf-8") if path.is_file() else ""
        text = replace_part(old, part, new)
        if text is None:
            yield part.document, f"has no markers of the generated part {part.name}"
        elif text != old and write:
            path.write_text(text, encoding="utf-8")
        elif text != old:
            yield part.document, f"{part.name} is not current; run python3 tests/structure/generate_docs.py"
    yield from generate_includes(root, write)


def documents(root):
    paths = [Path(root) / "README.md", *sorted((Path(root) / "docs").rglob("*.md"))]
    return [(str(path.relative_to(root)), path.read_text(encoding="utf-8")) for path in paths if path.is_file()]


def check_blocks(root):
    for document, text in documents(root):
        blocks = {block.start(): block for block in BLOCK.finditer(text)}
        for marker in MARKER.finditer(text):
            block = blocks.get(marker.start())
            where = f"{document}:{text.count(chr(10), 0, marker.start()) + 1}"
            if block is None:
                yield where, "no code block follows the marker of a file"
                continue
            path = Path(root) / block["path"]
            if not path.is_file():
                yield where, f"{block['path']} is no file"
            elif "\n" + block["code"] not in "\n" + path.read_text(encoding="utf-8"):
                yield where, f"the code block is not in {block['path']}, letter for letter"


def check_paths(root):
    for document, text in documents(root):
        text = re.sub(r"^(```+|~~~+).*?^\1\s*$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
        for match in PATH.finditer(text):
            if not any((Path(root) / top / match[1]).is_file() for top in PATH_ROOTS):
                yield f"{document}:{text.count(chr(10), 0, match.start()) + 1}", f"`{match[1]}` is no file of the tree"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    check = "--check" in sys.argv
    root = arguments[0] if arguments else Path(__file__).resolve().parents[2]
    findings = list(generate(root, write=not check))
    if check:
        findings += [*check_blocks(root), *check_paths(root)]
    return report(findings)


if __name__ == "__main__":
    sys.exit(main())
