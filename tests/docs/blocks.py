#!/usr/bin/env python3
"""Makes programs of the C++ blocks of README.md and docs. blocks.py ROOT OUTPUT_FOLDER

Writes a source for each page. Each block is a namespace with a function run(): classes, functions and aliases stand in
the namespace, other statements in run(). Comments before a block say what it needs:

    <!-- continues -->              the block before it of the page comes first, with all that it needs
    <!-- given: CODE -->            CODE comes first; if it has a line `...`, the block stands in its place
    <!-- for all blocks: CODE -->   the same for all blocks below, whose names may hide those of CODE
    <!-- compiles only: REASON -->  run() is not called
    <!-- no program: REASON -->     not compiled

Blocks of the generated parts and of files (`<!-- file: PATH -->`) are parts of tests, which compile and run them.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "structure"))
from declarations import CLASS, NOISE, function_name, matching, without_template  # noqa: E402

BLOCK = re.compile(r"(?P<marks>(?:^[ \t]*<!-- .*?-->\s*\n)*)^[ \t]*```cpp\n(?P<code>.*?)^[ \t]*```\s*$", re.M | re.S)
MARK = re.compile(r"<!-- (?P<kind>[\w ]+?)(?::\s(?P<text>.*?))?\s*-->", re.S)
GENERATED = re.compile(r"<!-- generated: (?P<name>[^>]*?) -->.*?<!-- end: (?P=name) -->", re.S)
REASONED = ("compiles only", "no program")
COMMON = re.compile(r"^<!-- for all blocks:\s(?P<code>.*?)-->", re.M | re.S)
INCLUDE = re.compile(r"^[ \t]*(#include .*|using namespace mezzo;.*)$", re.M)


class BlockError(Exception):
    """A block that can't be made a program."""


class Block(NamedTuple):
    page: str
    line: int  # of the first line of code
    includes: list
    outside: list  # pieces of the namespace: (line or None, text)
    inside: list  # pieces of run()
    runs: bool
    common: tuple = ([], [], [])  # what all blocks of the page are given


def blank(text):
    """The text with spaces in place of comments, literals and preprocessor lines: all places stay."""
    return NOISE.sub(lambda noise: re.sub(r"[^\n]", " ", noise[0]), text)


def pieces(code):
    """(begin, end, head, has a body) of each statement."""
    plain = blank(code)
    start = i = 0
    while i < len(plain):
        if plain[i] == "(":
            i = matching(plain, i, "(", ")")
        elif plain[i] == "{":
            head, i = plain[start:i], matching(plain, i, "{", "}")
            semicolon = re.compile(r"\s*;").match(plain, i)
            if CLASS.match(without_template(head)) and semicolon:
                i = semicolon.end()
            yield start, i, head, True
            start = i
        elif plain[i] == ";":
            yield start, i + 1, plain[start:i], False
            start = i = i + 1
        else:
            i += 1
    if code[start:].strip():
        yield start, len(code), plain[start:], False


def stands_outside(head, has_body):
    head = head.strip()
    if re.match(r"(using\s+\w+\s*=|template\b|static\b|namespace\b|enum\b)", head):
        return True
    if not has_body:
        return False
    return bool(CLASS.match(head) and "(" not in head or function_name(head))


def split(code, line):
    """(includes, outside, inside) of code that begins at a line of the page; without lines for given code."""
    includes = [include for include in INCLUDE.findall(code) if include.startswith("#")]
    code = INCLUDE.sub("", code)
    outside, inside = [], []
    for begin, end, head, has_body in pieces(code):
        text = code[begin:end]
        at = line and line + code.count("\n", 0, begin)
        main = re.match(r"\s*int main\(\)\s*$", head)
        if main:
            body = begin + len(head) + 1
            inside.append((line and line + code.count("\n", 0, body), code[body:end - 1]))
        else:
            (outside if stands_outside(head, has_body) else inside).append((at, text))
    return includes, outside, inside


def framed(given, code, line):
    """The code with what is given: before it, or around it in place of the line `...`."""
    frame = re.split(r"^[ \t]*\.\.\.[ \t]*$", given, flags=re.M)
    if len(frame) == 1:
        first, second = split(given, None), split(code, line)
        return tuple(a + b for a, b in zip(first, second))
    if len(frame) != 2:
        raise BlockError("a frame has one line `...`")
    return split(f"{frame[0]}\n#line {line}\n{code}{frame[1]}", None)


def check_marks(where, marks):
    for kind, text in marks:
        if kind not in (*REASONED, "continues", "given", "for all blocks", "file"):
            raise BlockError(f"{where}: unknown mark {kind}")
        if kind in REASONED and not text:
            raise BlockError(f"{where}: {kind} needs a reason")


def blocks(page, text):
    """The programs of a page."""
    text = GENERATED.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), text)
    common = ([], [], [])
    shared = COMMON.search(text)
    if shared:
        common = split(shared["code"], None)
    last = None
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        marks = [(mark["kind"], mark["text"]) for mark in MARK.finditer(match["marks"])]
        kinds = [kind for kind, _ in marks]
        check_marks(f"{page}:{line}", marks)
        if "file" in kinds or "no program" in kinds:
            continue
        given = "\n".join(content or "" for kind, content in marks if kind == "given")
        try:
            includes, outside, inside = framed(given, match["code"], line)
        except BlockError as error:
            raise BlockError(f"{page}:{line}: {error}") from None
        if "continues" in kinds:
            if last is None:
                raise BlockError(f"{page}:{line}: continues no block")
            includes, outside, inside = (a + b for a, b in
                                         zip((last.includes, last.outside, last.inside), (includes, outside, inside)))
        last = Block(page, line, includes, outside, inside, "compiles only" not in kinds, common)
        yield last


def placed(page, parts):
    return "".join((f'#line {line} "{page}"\n' if line else "") + text + "\n" for line, text in parts)


def source(page, programs):
    """The source of a page."""
    text = "#include <mezzo/mezzo.hpp>\n#include \"docs/block.hpp\"\n"
    text += "".join(f"{include}\n" for block in programs for include in dict.fromkeys(block.common[0] + block.includes))
    text += "\nusing namespace mezzo;\n"
    for block in programs:
        name = re.sub(r"\W", "_", f"{page}_{block.line}")
        text += (f"\nnamespace {name} {{\n{placed(page, block.common[1] + block.outside)}void run() {{\n"
                 f"{placed(page, block.common[2])}{{\n{placed(page, block.inside)}}}\n}}\n"
                 f'[[maybe_unused]] const mezzo_docs::Block block("{page}", {block.line}, '
                 f"{'run' if block.runs else 'nullptr'});\n}}\n")
    return text


def source_name(page):
    """Name of a page's source, as in docs.cmake: pages of one name in different folders differ."""
    return re.sub(r"\.md$", ".cpp", re.sub(r"^docs/", "", re.sub(r"^README", "docs/top_README", page))).replace("/", "_")


def pages(root):
    root = Path(root)
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        programs = list(blocks(str(path.relative_to(root)), path.read_text(encoding="utf-8")))
        yield path, programs


def main():
    root, output = Path(sys.argv[1]), Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    try:
        for path, programs in pages(root):
            page = path.relative_to(root).as_posix()
            target, text = output / source_name(page), source(page, programs)
            if not target.is_file() or target.read_text(encoding="utf-8") != text:
                target.write_text(text, encoding="utf-8")
    except BlockError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
