#!/usr/bin/env python3
"""Compares the names of namespace mezzo that public headers declare with public_names.txt.

public_names.py [--write] [--compile COMPILER] [ROOT]

A new line of public_names.txt is a new name that programs with `using namespace mezzo` can't use for their own classes.
Internal names belong to mezzo::detail. --write brings the list up to date. Two more findings:

- a class of a C++ block of the docs has a name of the list: readers couldn't compile it;
- a word of COMMON is in the list, and no page of the docs has it.

--compile compiles a program that has `using namespace mezzo` and a class of its own for each other word of COMMON.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
import blocks  # noqa: E402
from check_tree import Tree  # noqa: E402
from declarations import CLASS, class_name, clean, function_name, statements, without_template  # noqa: E402
from ops_def import read_rows, with_includes  # noqa: E402
from report import report  # noqa: E402

LIST = Path("tests/structure/public_names.txt")
# Names that programs are likely to have for classes of their own.
COMMON = """Arena Batch Block Buffer Builder Cache Classifier Config Counter Cursor Decoder Encoder Entry Event Factor Frame
Generator Graph Index Item Job Kernel Key Line List Loader Loop Map Margin Mask Monitor Network Node Noise Option Padding
Page Pair Part Plan Point Pool Position Queue Range Reader Record Region Result Rule Sample Scope Settings Shared Slice
Source Span Stage State Step Store Stream Table Target Task Token Trace Transfer Transport Tree Unit View Word Writer
""".split()


def names_of(text):
    """(kind, name) of each declaration in namespace mezzo."""
    def scan(begin, end, namespace):
        for statement, inner, inner_end in statements(cleaned, begin, end):
            opened = re.match(r"\s*(?:inline\s+)?namespace\b\s*([\w:]*)", statement)
            if opened and inner is not None:
                yield from scan(inner, inner_end, "::".join(filter(None, (namespace, opened[1]))))
            elif namespace == "mezzo":
                found = declared(without_template(statement))
                if found:
                    yield found

    cleaned = clean(text)
    return set(scan(0, len(cleaned), ""))


def declared(statement):
    """(kind, name) of a statement; None for definitions of members and for what declares nothing new."""
    for kind, pattern in (("enum", r"enum\s+(?:class\s+|struct\s+)?(\w+)"), ("alias", r"using\s+(\w+)\s*="),
                          ("using", r"using\s+[\w:]*::(\w+)$")):
        match = re.match(pattern, statement)
        if match:
            return kind, match[1]
    if CLASS.match(statement) and "(" not in statement:
        name = class_name(statement)
        return ("class", name) if name and "::" not in name else None
    if re.match(r"(using|friend|static_assert|extern)\b", statement):
        return None
    function = function_name(statement)
    if function:
        return None if function.startswith("operator") else ("function", function)
    variable = re.match(r"(?:inline\s+)?constexpr\s+[\w:<>]+\s+(\w+)", statement)
    return ("variable", variable[1]) if variable else None


def public_names(root):
    tree = Tree(root)
    found = set()
    for path in tree.public:
        found |= names_of((tree.root / path).read_text(encoding="utf-8"))
    rows = read_rows(with_includes(Path(root) / "framework/mezzo/ops/rows/ops.def"))
    found |= {("function", row.name) for row in rows if row.macro == "MEZZO_UNARY_OP"}
    return found


def classes_of_docs(root):
    """(place, name) of the classes of the programs of the docs."""
    for path, programs in blocks.pages(root):
        for block in programs:
            for _, text in block.outside:
                name = CLASS.match(text.strip()) and class_name(clean(text).split("{")[0].strip())
                if name:
                    yield f"{path.relative_to(root)}:{block.line}", name


def check(root):
    found = {f"{kind} {name}" for kind, name in public_names(root)}
    recorded = set((Path(root) / LIST).read_text(encoding="utf-8").splitlines())
    for line in sorted(found - recorded):
        yield f"{LIST}: {line} is new in namespace mezzo: move it to mezzo::detail, or add it to the list (--write)"
    for line in sorted(recorded - found):
        yield f"{LIST}: {line} is not declared; delete the line (--write)"
    types = {line.split()[1] for line in found if line.split()[0] != "function"}
    for place, name in classes_of_docs(Path(root)):
        if name in types:
            yield f"{place}: mezzo has a class {name}, too"
    docs = " ".join(path.read_text(encoding="utf-8") for path in (Path(root) / "docs").glob("*.md"))
    code = set(re.findall(r"\w+", " ".join(re.findall(r"```.*?```|`[^`\n]*`", docs, re.S))))
    for name in COMMON:
        if name in types and name not in code:
            yield f"{name} is a common word in namespace mezzo that no page documents"


def own_classes(types):
    """A program with classes of its own whose names are the words of COMMON that are no public names."""
    words = [word for word in COMMON if word not in types]
    text = "#include <mezzo/mezzo.hpp>\nusing namespace mezzo;\n"
    text += "".join(f"struct {word} {{}};\n" for word in words)
    return text + "int main() {\n" + "".join(f"  static_cast<void>({word}{{}});\n" for word in words) + "}\n"


def compile_own_classes(root, compiler):
    """Findings of the compiler, as one text."""
    types = {name for kind, name in public_names(root) if kind != "function"}
    include = [f"-I{root / folder}" for folder in ("framework", "models", "datasets")]
    done = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", *include, "-x", "c++", "-"], input=own_classes(types),
                          capture_output=True, text=True, check=False)
    return [done.stderr] if done.returncode else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--compile", metavar="COMPILER")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    if arguments.write:
        lines = sorted(f"{kind} {name}\n" for kind, name in public_names(arguments.root))
        (arguments.root / LIST).write_text("".join(lines), encoding="utf-8")
    if arguments.compile:
        findings = compile_own_classes(arguments.root, arguments.compile)
    else:
        findings = list(check(arguments.root))
    return report(findings)


if __name__ == "__main__":
    sys.exit(main())
