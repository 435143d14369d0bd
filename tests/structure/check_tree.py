#!/usr/bin/env python3
"""Checks how the tree is built: who includes whom, sizes, names. check_tree.py ROOT

Every finding is one line, `file:line: rule`; the exit code is 1 if there is any.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

# What each folder may include, besides itself. What an entry names brings its own entry along.
INCLUDES = {
    "core": [],
    "data": ["core"],
    "precision": ["core"],
    "graph": ["precision"],
    "ops": ["graph"],
    "compiler": ["ops"],
    "backends": ["compiler"],
    "model": ["ops", "data"],
    "initializers": ["model"],
    "regularizers": ["model"],
    "constraints": ["model"],
    "schedules": ["model"],
    "losses": ["model"],
    "metrics": ["losses"],
    "optimizers": ["schedules"],
    "layers": ["initializers", "regularizers", "constraints"],
    "io": ["core"],
    "text": ["io"],
    "image": ["io"],
    "report": ["model", "compiler", "image"],
    "training": ["layers", "losses", "metrics", "optimizers", "compiler", "io"],
    "cli": ["training", "report", "datasets", "models"],
    "datasets": ["data", "text", "image"],
    "models": ["training", "report"],
}
PRIVATE = {"compiler", "backends", "cli", "detail"}  # folders whose headers are not installed
MODELS_MAY_NOT = {"compiler", "backends", "cli"}  # models/ stands on the public API

TOP_LEVEL = {"CMakeLists.txt", "framework", "models", "datasets", "tests", "tutorials", "docs", "README.md", "LICENSE"}
CODE = {"framework", "models", "datasets"}
SIZED = CODE | {"tests"}
LONG, TOO_LONG = 150, 400
TEXT = {".cpp", ".hpp", ".h", ".C", ".py", ".sh", ".cmake", ".txt", ".md", ".in", ".json", ".svg", ".yml", ".ipynb", ""}

# Libraries that only some places may name in an #include.
LIBRARIES = [
    (re.compile(r"(oneapi/dnnl/)?dnnl"), "oneDNN", ("framework/backends/onednn/", "tests/benchmarks/peers/")),
    (re.compile(r"xsimd/"), "xsimd", ("framework/backends/xsimd/",)),
    (re.compile(r"utf8proc"), "utf8proc", ("framework/text/",)),
    (re.compile(r"(jpeglib|png)\.h"), "image format", ("framework/image/", "tests/")),
    (re.compile(r"xtensor/"), "xtensor",
     ("framework/xtensor.hpp", "framework/mezzo/xtensor.hpp", "framework/mezzo/backends/reference/",
      "framework/mezzo/io/", "framework/mezzo/core/print.cpp", "tests/", "tutorials/")),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(?:%s)/" % "|".join(["home", "Users", "mnt", "srv", "root", "work", "farm"]))


def allowed(folder):
    found, todo = set(), [folder]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += INCLUDES.get(one, [])
    return found - MODELS_MAY_NOT if folder == "models" else found


def list_files(root):
    """What git tracks or would track; without git, all files but those of builds."""
    if shutil.which("git"):
        listing = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                 capture_output=True, check=False)
        if listing.returncode == 0:
            names = sorted(set(listing.stdout.decode().split("\0")) - {""})
            return [n for n in names if (Path(root) / n).is_file()]
    names = sorted(str(p.relative_to(root)) for p in Path(root).rglob("*") if p.is_file())
    return [n for n in names if not re.match(r"(build[^/]*|\.git)/|(.*/)?__pycache__/", n)]


def mezzo_path(name):
    """Where <mezzo/...> is in the source tree."""
    inner = name[len("mezzo/"):]
    return inner if inner.split("/")[0] in ("models", "datasets") else "framework/" + inner


def folder_of(path):
    """The architecture's name for a file's place: framework/core/x.hpp -> core, framework/mezzo.hpp -> None."""
    parts = path.split("/")
    if parts[0] in ("models", "datasets"):
        return parts[0]
    return parts[1] if parts[0] == "framework" and len(parts) > 2 else None


def resolve(root, path, quote, name):
    """The source path of what an #include names, or None if it is not the project's."""
    if name.startswith("mezzo/"):
        return mezzo_path(name)
    if quote == '"':
        target = (Path(root) / path).parent / name
        if target.exists():
            return str(target.resolve().relative_to(Path(root).resolve()))
    return None


def is_sized(path):
    return path.split("/")[0] in SIZED and path.endswith((".cpp", ".hpp", ".py", ".sh", ".cmake", "CMakeLists.txt"))


def is_public(path):
    return path.endswith(".hpp") and path.split("/")[0] in CODE and not PRIVATE & set(path.split("/"))


def check_include(root, path, quote, name):
    for pattern, library, places in LIBRARIES:
        if pattern.match(name) and not path.startswith(places):
            yield f"{library} headers are only for {', '.join(places)}"
    target = resolve(root, path, quote, name)
    if path.split("/")[0] not in CODE or target is None:
        return
    if "/detail/" in target:
        owner = target.split("detail/")[0]
        if not path.startswith(owner):
            yield f"<{name}> is private to {owner}"
    if is_public(path) and target.endswith(".hpp") and not is_public(target):
        yield f"a public header must not include the private <{name}>"
    source, needed = folder_of(path), folder_of(target)
    if source and needed and needed not in allowed(source):
        yield f"{source} must not include {needed} (<{name}>)"
    if source and not needed and target.startswith("framework/"):
        yield f"{source} must not include the gathering header <{name}>"


def check_code_line(path, line):
    if re.match(r"\s*#\s*pragma\s+omp\b", line):
        yield "#pragma omp: use core/parallel"
    if "GOMP_" in line and not path.startswith(("framework/core/parallel", "tests/")):
        yield "libgomp is called by core/parallel alone"
    if path.endswith(".hpp") and re.match(r"\s*using\s+namespace\b", line):
        yield "using namespace in a header"


def check_lines(root, path, lines):
    is_code = path.endswith((".cpp", ".hpp", ".C"))
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield number, "a path of one machine"
        if is_code:
            include = INCLUDE.match(line)
            rules = check_include(root, path, *include.groups()) if include else check_code_line(path, line)
            yield from ((number, rule) for rule in rules)
    if path.endswith(".hpp") and "#pragma once" not in lines:
        yield 1, "a header needs #pragma once"
    test = re.fullmatch(r"tests/.*/test_(\w+)\.cpp", path)
    if test and not any(re.match(rf"BOOST_AUTO_TEST_SUITE\({test[1]}\b", line) for line in lines):
        yield 1, f"ctest runs the suite {test[1]} of this file"
    if is_sized(path) and len(lines) > TOO_LONG:
        yield TOO_LONG + 1, f"{len(lines)} lines, at most {TOO_LONG}"


def check_tree(root):
    """All findings as (file, line, rule), and the long files as (lines, file)."""
    findings, long_files, odd = [], [], set()
    for path in list_files(root):
        top = path.split("/")[0]
        if top not in TOP_LEVEL and not top.startswith(".") and top not in odd:
            odd.add(top)
            findings.append((path, 1, f"{top} is not a name for the top level"))
        folder = folder_of(path)
        if folder and folder not in INCLUDES and folder != "cmake":
            findings.append((path, 1, f"framework/{folder} has no place in the order of includes"))
        if Path(path).suffix not in TEXT or path == "LICENSE":
            continue
        lines = (Path(root) / path).read_text(encoding="utf-8", errors="replace").splitlines()
        findings += [(path, number, rule) for number, rule in check_lines(root, path, lines)]
        if is_sized(path) and len(lines) > LONG:
            long_files.append((len(lines), path))
    return findings, sorted(long_files, reverse=True)


def main():
    findings, long_files = check_tree(sys.argv[1] if len(sys.argv) > 1 else ".")
    if long_files:
        print(f"Over {LONG} lines (most files should be shorter):")
        for count, path in long_files:
            print(f"  {count:4} {path}")
    for path, number, rule in findings:
        print(f"{path}:{number}: {rule}")
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
