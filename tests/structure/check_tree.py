#!/usr/bin/env python3
"""Checks how the tree is built: includes, libraries, sizes, names. check_tree.py ROOT

Every finding is one line, `file:line: rule`; the exit code is 1 if there is any. The table of folders is folders.py.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from folders import (ERROR_HEADERS, FOLDERS, GATHERING_HEADERS, MODEL_HEADERS, ROOTS, TOP_FILES,  # noqa: E402
                     allowed, entry_of, find_header, folder_of)
from report import report  # noqa: E402

TOP_LEVEL = {"CMakeLists.txt", "framework", "models", "datasets", "tests", "tutorials", "docs", "README.md", "LICENSE"}
SIZED = {*ROOTS, "tests"}
SHORT, LONG, TOO_LONG = 20, 150, 400
TEXT = {".cpp", ".hpp", ".h", ".C", ".py", ".sh", ".cmake", ".txt", ".md", ".in", ".json", ".svg", ".yml", ".ipynb",
        ".def", ""}

# Libraries that only some places may name in an #include.
LIBRARIES = [
    (r"(oneapi/dnnl/)?dnnl", "oneDNN", ("framework/mezzo/backends/onednn/", "tests/benchmarks/peers/")),
    (r"xsimd/", "xsimd", ("framework/mezzo/backends/xsimd/",)),
    (r"utf8proc", "utf8proc", ("framework/mezzo/data/text/",)),
    (r"re2/", "RE2", ("framework/mezzo/core/pattern.cpp",)),
    (r"regex$", "std::regex", ("tests/",)),
    (r"((jpeglib|turbojpeg|png|tiffio)\.h|webp/)", "image format", ("framework/mezzo/data/image/", "tests/")),
    (r"archive(_entry)?\.h", "archive", ("framework/mezzo/io/", "datasets/mezzo/datasets/", "tests/")),
    (r"CLI/", "CLI11", ("framework/mezzo/cli/",)),
    (r"mpi\.h", "MPI", ("framework/mezzo/distributed/mpi/",)),
    (r"Eigen/", "Eigen", ("framework/mezzo/backends/reference/linalg.cpp", "framework/mezzo/eigen.hpp", "tests/")),
    (r"opencv2/", "OpenCV", ("framework/mezzo/opencv.hpp", "tests/")),
    (r"onnx/|google/protobuf/", "ONNX", ("framework/mezzo/onnx/", "tests/onnx/", "tests/fuzz/")),
    (r"sentencepiece_", "SentencePiece", ("framework/mezzo/data/text/sentencepiece/",)),
    (r"xtensor/|xtl/", "xtensor", ("framework/mezzo/xtensor.hpp", "framework/mezzo/backends/reference/",
                                   "framework/mezzo/core/print.cpp", "framework/mezzo/io/", "framework/mezzo/report/",
                                   "tests/", "tutorials/")),
]
# Public headers include none of these, with exceptions: these libraries are what those headers are for.
NOT_IN_PUBLIC_HEADERS = re.compile(r"(fmt|xtensor|xtl|xsimd|oneapi/dnnl|nlohmann|Eigen|opencv2|onnx|google)/|dnnl")
PUBLIC_EXCEPTIONS = {"framework/mezzo/xtensor.hpp": "xtensor/",
                     "framework/mezzo/eigen.hpp": "Eigen/",
                     "framework/mezzo/opencv.hpp": "opencv2/",
                     "framework/mezzo/report/display/notebook.hpp": "nlohmann/"}
NOT_PUBLIC = ("backends", "cli", "compiler")  # folders without public headers, except for
PUBLIC_ALL_THE_SAME = ("framework/mezzo/compiler/kernel.hpp", "framework/mezzo/compiler/custom_op.hpp")

TABLE = "tests/structure/folders.py"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(?:%s)/" % "|".join(["home", "Users", "mnt", "srv", "root", "work", "farm"]))
MAKES_LINK = re.compile(r"create_symlink|CREATE_LINK\b")


def list_files(root):
    """Files that git tracks or would track; without git, all files but those of builds."""
    if shutil.which("git"):
        listing = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                 capture_output=True, check=False)
        if listing.returncode == 0:
            names = sorted(set(listing.stdout.decode().split("\0")) - {""})
            return [n for n in names if (Path(root) / n).is_file()]
    names = sorted(str(p.relative_to(root)) for p in Path(root).rglob("*") if p.is_file())
    return [n for n in names if not re.match(r"(build[^/]*|\.git)/|(.*/)?__pycache__/", n)]


def find_links(root):
    """Symbolic links on the include path, tracked or not."""
    for top in sorted(SIZED):
        for folder, folders, files in os.walk(Path(root) / top):
            for name in sorted(folders + files):
                if os.path.islink(os.path.join(folder, name)):
                    yield os.path.relpath(os.path.join(folder, name), root)


class Tree:
    """The files of a tree, and which of them are public headers."""

    def __init__(self, root):
        self.root = Path(root)
        self.files = list_files(root)
        self.tracked = set(self.files)
        self.read = {}  # lines by path
        self.public = self.find_public()

    def lines(self, path):
        if path not in self.read:
            self.read[path] = (self.root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        return self.read[path]

    def includes(self, path):
        return [m.groups() for m in map(INCLUDE.match, self.lines(path)) if m]

    def find_public(self):
        found, todo = set(), [path for path in map(self.header, GATHERING_HEADERS) if path]
        while todo:
            path = todo.pop()
            if path not in found and not must_be_private(path):
                found.add(path)
                todo += filter(None, (self.resolve(path, *include) for include in self.includes(path)))
        return found

    def header(self, name):
        path = find_header(self.root, name)
        return path if path in self.tracked else None

    def resolve(self, path, quote, name):
        """The file of the tree that an #include names, or None."""
        if name.startswith("mezzo/"):
            return self.header(name)
        if quote == '"':
            for folder in (os.path.dirname(path), "tests"):
                target = os.path.normpath(os.path.join(folder, name))
                if target in self.tracked:
                    return target
        return None


def check_libraries(tree, path, name):
    for pattern, library, places in LIBRARIES:
        if re.match(pattern, name) and not path.startswith(places):
            yield f"{library} headers are only for {', '.join(places)}"
    excepted = PUBLIC_EXCEPTIONS.get(path, "-")
    if path in tree.public and NOT_IN_PUBLIC_HEADERS.match(name) and not name.startswith(excepted):
        yield f"a public header must not include <{name}>"


def check_arrow(tree, path, target, name):
    source = folder_of(path)
    if source is None:
        return
    if target in TOP_FILES:
        yield f"{source} must not include <{name}>, which stands above all folders"
        return
    needed = folder_of(target)
    if needed is None or not {entry_of(source), entry_of(needed)} <= set(FOLDERS):
        return
    entry, needed_entry = entry_of(source), entry_of(needed)
    if needed_entry not in allowed(entry):
        yield f"{source} must not include {needed} (<{name}>)"
    elif needed_entry != entry and target not in tree.public and target not in ERROR_HEADERS + MODEL_HEADERS:
        restricted = FOLDERS[entry].only_public
        if "*" in restricted or needed_entry in restricted:
            yield f"{source} may include public headers of {needed} only; <{name}> is private"


def check_include(tree, path, quote, name):
    yield from check_libraries(tree, path, name)
    if len([top for top in ROOTS if (tree.root / top / name).is_file()]) > 1:
        yield f"<{name}> is in several include roots"
    target = tree.resolve(path, quote, name)
    if target is None:
        if name.startswith("mezzo/") or quote == '"':
            yield f"<{name}> is not a file of the tree"
        return
    if path in tree.public and must_be_private(target):
        yield f"a public header must not include the private <{name}>"
    yield from check_arrow(tree, path, target, name)


def must_be_private(path):
    folder = folder_of(path)
    return folder is not None and folder.split("/")[0] in NOT_PUBLIC and path not in PUBLIC_ALL_THE_SAME


def check_code_line(path, line):
    if re.match(r"\s*#\s*pragma\s+omp\b", line):
        yield "#pragma omp: use core/parallel"
    if "GOMP_" in line and not path.startswith(("framework/mezzo/core/parallel", "tests/")):
        yield "libgomp is called by core/parallel alone"
    # core/namespaces.hpp makes Keras' namespaces, inside of mezzo:: only.
    if (path.endswith(".hpp") and path != "framework/mezzo/core/namespaces.hpp"
            and re.match(r"\s*using\s+namespace\b", line)):
        yield "using namespace in a header"


def check_lines(tree, path, lines):
    is_code = path.endswith((".cpp", ".hpp", ".C", ".def"))
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield number, "a path of one machine"
        if path.endswith(("CMakeLists.txt", ".cmake", ".cmake.in")) and MAKES_LINK.search(line):
            yield number, "CMake must not make links"
        if is_code:
            include = INCLUDE.match(line)
            rules = check_include(tree, path, *include.groups()) if include else check_code_line(path, line)
            yield from ((number, rule) for rule in rules)
    if path.endswith(".hpp") and "#pragma once" not in lines:
        yield 1, "a header needs #pragma once"
    test = re.fullmatch(r"tests/.*/test_(\w+)\.cpp", path)
    if test and not any(re.match(rf"BOOST_AUTO_TEST_SUITE\({test[1]}\b", line) for line in lines):
        yield 1, f"ctest runs the suite {test[1]} of this file"
    if is_sized(path) and len(lines) > TOO_LONG:
        yield TOO_LONG + 1, f"{len(lines)} lines, at most {TOO_LONG}"


def is_sized(path):
    return path.split("/")[0] in SIZED and path.endswith((".cpp", ".hpp", ".py", ".sh", ".cmake", "CMakeLists.txt"))


def check_places(tree):
    """Top-level names, folders without an entry, entries without a folder, detail/ folders, links."""
    reported = set()
    for path in tree.files:
        parts, folder = path.split("/"), folder_of(path)
        if parts[0] not in TOP_LEVEL and not parts[0].startswith(".") and parts[0] not in reported:
            reported.add(parts[0])
            yield path, f"{parts[0]} is not a name for the top level"
        if parts[0] in ROOTS and "detail" in parts:
            yield path, "private headers lie beside their sources, not in detail/"
        elif folder and not entry_of(folder) and folder not in reported:
            reported.add(folder)
            yield path, f"{folder} has no entry in folders.py"
    used = {entry_of(folder) for folder in map(folder_of, tree.files) if folder}
    if TABLE in tree.tracked:
        yield from ((TABLE, f"the entry {entry} has no folder") for entry in FOLDERS if entry not in used)
    yield from ((path, "a symbolic link on the include path") for path in find_links(tree.root))


def check_tree(root):
    """All findings as (file, line, rule), and the number of lines of each code file."""
    tree = Tree(root)
    findings = [(path, 1, rule) for path, rule in check_places(tree)]
    sizes = []
    for path in tree.files:
        if Path(path).suffix not in TEXT or path == "LICENSE":
            continue
        lines = tree.lines(path)
        findings += [(path, number, rule) for number, rule in check_lines(tree, path, lines)]
        if is_sized(path):
            sizes.append((len(lines), path))
    return findings, sorted(sizes, reverse=True)


def main():
    findings, sizes = check_tree(sys.argv[1] if len(sys.argv) > 1 else ".")
    long_files = [(count, path) for count, path in sizes if count > LONG]
    if long_files:
        print(f"Over {LONG} lines (most files should be shorter):")
        for count, path in long_files:
            print(f"  {count:4} {path}")
    short = sum(count <= SHORT for count, _ in sizes)
    print(f"{short} of {len(sizes)} files have {SHORT} lines or fewer")
    return report([(f"{path}:{number}", rule) for path, number, rule in findings])


if __name__ == "__main__":
    sys.exit(main())
