#!/usr/bin/env python3
"""Checks what the library links against the table of folders. check_symbols.py ROOT OBJECTS_FILE

OBJECTS_FILE lists the library's object files, separated by newlines or semicolons. Findings, one a line:

- upward: an object of a folder needs a symbol that is defined in a folder that it may not use;
- split: member functions of one class are defined in objects of two folders;
- elsewhere: declared in a header of one folder, defined in an object of another.

Weak symbols (inline functions, instances of templates) are no evidence: every object that needs them has a copy. The
exit code is 1 if there is any finding.
"""

import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from declarations import declarations  # noqa: E402
from folders import FOLDERS, ROOTS, TOP_FILES, allowed, entry_of, folder_of  # noqa: E402
from mangled import qualified_name  # noqa: E402

STRONG, UNDEFINED = set("TDBRSG"), set("Uvw")
# A virtual table or type information is weak always. An object that lacks it relies on the one object that has it.
TYPE_TABLES = ("_ZTV", "_ZTI", "_ZTS", "_ZTT")
BATCH = 40  # objects for one run of nm


def source_of(root, path):
    """The source file in the tree of an object or source: .../mezzo_objects.dir/__/models/mezzo/models/bert.cpp.o ->
    models/mezzo/..."""
    parts = [part for part in re.sub(r"\.o(bj)?$", "", path).split("/") if part != "__"]
    for begin in range(len(parts)):
        tail = "/".join(parts[begin:])
        if parts[begin] != "mezzo":
            continue
        for top in ROOTS:
            if (Path(root) / top / tail).is_file():
                return f"{top}/{tail}"
    return None


def sources_of(root, object_path):
    """The source files of an object. CMake compiles several of one folder as one: Unity/unity_mezzo_ops_0_cxx.cxx.o"""
    batch = Path(re.sub(r"\.o(bj)?$", "", object_path))
    if batch.parent.name == "Unity" and batch.is_file():
        included = re.findall(r'^#include "(.*)"$', batch.read_text(encoding="utf-8"), re.M)
    else:
        included = [object_path]
    return [source for source in (source_of(root, path) for path in included) if source]


def read_objects(paths):
    """{object: (strong symbols, undefined symbols)}"""
    def run(batch):
        result = subprocess.run(["nm", "--format=posix", *batch], capture_output=True, text=True, check=True)
        symbols, current = {path: (set(), set()) for path in batch}, symbols_of(batch)
        for line in result.stdout.splitlines():
            if line[:-1] in symbols and line.endswith(":"):
                current = symbols[line[:-1]]
                continue
            name, kind = line.split()[:2]
            if kind in UNDEFINED:
                current[1].add(name)
            elif kind in STRONG or name.startswith(TYPE_TABLES):
                current[0].add(name)
        return symbols if len(batch) > 1 else {batch[0]: current}

    def symbols_of(batch):
        return (set(), set()) if len(batch) == 1 else None  # nm names the file only if there are several

    batches = [paths[i:i + BATCH] for i in range(0, len(paths), BATCH)]
    found = {}
    with ThreadPoolExecutor(4) as pool:
        for symbols in pool.map(run, batches):
            found.update(symbols)
    return found


class Library:
    """Which folders define and need which symbols. A file above all folders counts as a folder of its own name."""

    def __init__(self, root, objects):
        self.unknown = []
        self.defined = defaultdict(lambda: defaultdict(set))   # symbol -> folder -> sources
        self.needed = defaultdict(lambda: defaultdict(set))    # the same
        for path, (strong, undefined) in read_objects(objects).items():
            sources = sources_of(root, path)
            places = {place_of(source) for source in sources}
            if len(places) != 1:
                self.unknown.append(path)
                continue
            place = places.pop()
            for symbol in strong:
                self.defined[symbol][place].update(sources)
            for symbol in undefined:
                self.needed[symbol][place].update(sources)


def place_of(source):
    """The entry of folders.py that covers a file, or the file itself if it stands above all folders."""
    folder = folder_of(source)
    return source if folder is None else entry_of(folder) or folder


def may_use(source, target):
    if source == target or source in TOP_FILES or source not in FOLDERS:
        return True
    return target in allowed(source)


def demangle(symbols):
    names = list(symbols)
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, text.splitlines()))


def check_upward(library):
    faults = []
    for symbol, places in library.needed.items():
        homes = library.defined.get(symbol, {})
        for place, sources in places.items():
            if homes and not any(may_use(place, home) for home in homes):
                faults.append((symbol, place, sorted(sources), sorted(homes)))
    names = demangle({symbol for symbol, *_ in faults})
    for symbol, place, sources, homes in faults:
        for source in sources:
            yield source, f"upward: {place} needs {names[symbol]}, which {' and '.join(homes)} defines"


class Headers:
    """What the headers of the tree declare, and the names of its namespaces and classes."""

    def __init__(self, root):
        self.functions = defaultdict(dict)  # qualified name -> folder -> header
        self.classes = defaultdict(dict)    # the same
        self.namespaces = set()
        isas = self.isas(root)
        for top in ROOTS:
            for path in sorted((Path(root) / top).rglob("*.[ch]pp")):
                found = declarations(path.read_text(encoding="utf-8", errors="replace"))
                name = str(path.relative_to(root))
                self.namespaces |= {one for space in found.namespaces for one in self.expand(space, isas)}
                if name.endswith(".hpp"):
                    self.add(self.functions, found.functions, name, isas)
                    self.add(self.classes, found.classes, name, isas)

    @staticmethod
    def isas(root):
        """The names for which MEZZO_ISA stands."""
        kernels = Path(root) / "framework/cmake/MezzoKernels.cmake"
        match = re.search(r"set\(MEZZO_ALL_ISAS ([^)]*)\)", kernels.read_text()) if kernels.exists() else None
        return match[1].split() if match else []

    @staticmethod
    def expand(namespace, isas):
        return [namespace.replace("MEZZO_ISA", isa) for isa in isas] if "MEZZO_ISA" in namespace else [namespace]

    def add(self, table, pairs, header, isas):
        for namespace, name in pairs:
            for space in self.expand(namespace, isas):
                table[f"{space}::{name}"].setdefault(place_of(header), header)

    def class_of(self, parts):
        """The outermost class that a qualified name belongs to, or None for functions of namespaces."""
        for n in range(1, len(parts)):
            if "::".join(parts[:n]) not in self.namespaces:
                return "::".join(parts[:n])
        return None


def check_places(library, headers):
    members = defaultdict(lambda: defaultdict(set))
    for symbol, places in library.defined.items():
        parts = qualified_name(symbol)
        if parts is None or parts[0] != "mezzo" or len(parts) < 2:
            continue
        owner = headers.class_of(parts)
        name = owner or "::".join(parts)
        for place, sources in places.items():
            if owner:
                members[owner][place] |= sources
            declared = (headers.classes if owner else headers.functions).get(name, {})
            if declared and place not in declared:
                where = ", ".join(declared.values())
                yield from ((source, f"elsewhere: {'::'.join(parts)} is declared in {where}")
                            for source in sorted(sources))
    for owner, places in members.items():
        if len(places) > 1:
            fewest = min(places, key=lambda place: (len(places[place]), place))
            yield sorted(places[fewest])[0], f"split: {owner} is implemented in {', '.join(sorted(places))}"


def check_symbols(root, objects):
    """All findings as (file, rule)."""
    library = Library(root, objects)
    findings = [(path, "an object without source files of one folder of the tree") for path in library.unknown]
    findings += check_upward(library)
    findings += check_places(library, Headers(root))
    return sorted(set(findings))


def main():
    root, objects_file = sys.argv[1:3]
    objects = [path for path in re.split(r"[;\n]", Path(objects_file).read_text()) if path.strip().endswith(".o")]  # not precompiled headers
    if not objects:
        print(f"{objects_file} lists no objects")
        return 1
    findings = check_symbols(root, objects)
    for path, rule in findings:
        print(f"{path}: {rule}")
    print(f"{len(findings)} findings in {len(objects)} objects")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
