#!/usr/bin/env python3
"""Times a cold build without ccache, in a temporary folder, and prints a table of its parts.

The parts are built in turn: the kernels of each instruction set, the rest of the library, one source of a layer again,
the tests, and in a folder of its own what tutorials/quickstart.sh builds. --write puts the table into
docs/contributing.md. The machine must be quiet: wall seconds mean nothing beside other builds.
"""

import argparse
import os
import platform
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "structure"))
from generate_docs import Part, replace_part, table  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/contributing.md"
KERNELS = "framework/cmake/MezzoKernels.cmake"
SCRIPT = "tutorials/quickstart.sh"
EDITED = "framework/mezzo/layers/core/dense.cpp"
UNCACHED = ["-DCMAKE_CXX_COMPILER_LAUNCHER="]
TESTED = ["-DMEZZO_BUILD_TESTS=ON", "-DMEZZO_BUILD_TUTORIALS=ON", "-DMEZZO_WERROR=ON"]  # as tests/run.sh


class Step(NamedTuple):
    """A row of the table: targets of one build folder. `again` is a source whose object is deleted before."""

    name: str
    title: str
    folder: str
    targets: tuple
    again: str = ""


class Times(NamedTuple):
    wall: float
    processor: float  # user and system seconds of all processes


def instruction_sets(text: str) -> list[str]:
    """Those of MezzoKernels.cmake; an empty list if it has none."""
    found = re.search(r"^set\(MEZZO_ALL_ISAS ([^)]*)\)", text, re.M)
    return found[1].split() if found else []


def quickstart_build(text: str) -> tuple[list[str], tuple]:
    """Options of `configure` and targets of `compile` in quickstart.sh."""
    configure, compiled = (re.search(rf'^{verb} "\$build"(.*)$', text, re.M) for verb in ("configure", "compile"))
    if not configure or not compiled:
        raise SystemExit(f"{SCRIPT} must have lines `configure \"$build\"` and `compile \"$build\"`")
    return shlex.split(configure[1]), tuple(shlex.split(compiled[1]))


def steps(isas: list[str], quickstart: tuple) -> list[Step]:
    rows = [Step(isa, f"library: kernels for {isa}", "tests", (f"mezzo_{isa}",)) for isa in isas]
    return [*rows, Step("library", "library: everything else" if isas else "library", "tests", ("mezzo",)),
            Step("layer", f"library again after a change of `{EDITED.split('mezzo/', 1)[1]}`", "tests", ("mezzo",),
                 EDITED),
            Step("tests", "tests and benchmarks", "tests", ("all",)),
            Step("quickstart", "quickstart with its library, in a folder of its own", "quickstart", quickstart)]


def output_of(command: list[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def timed(command: list[str]) -> Times:
    """Runs the command; its output is shown only if it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        print(done.stdout)
        raise SystemExit(f"failed: {shlex.join(command)}")
    return Times(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def objects_of(deps: str, source: str) -> list[str]:
    """Objects that are made of a source, in what `ninja -t deps` prints: alone or in a batch."""
    return [block.split(":", 1)[0] for block in deps.split("\n\n")
            if any(line.strip().endswith(source) for line in block.splitlines()[1:])]


def forget(folder: Path, source: str) -> None:
    """Deletes the objects of a source, so that they are compiled again."""
    found = objects_of(output_of(["ninja", "-C", str(folder), "-t", "deps"]), source)
    if not found:
        raise SystemExit(f"no object of {source} in {folder}")
    for name in found:
        (folder / name).unlink()


def measure(chosen: list[Step], options: dict[str, list[str]], jobs: int, top: Path) -> dict[str, Times]:
    """Times of each step, by name. A folder is configured before its first step."""
    results = {}
    for step in chosen:
        folder = top / step.folder
        if not folder.exists():
            configure = timed(["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "--log-level=WARNING",
                               "-Wno-dev", *UNCACHED, *options[step.folder]])
            results.setdefault("configure", configure)
        print(step.title, "...", file=sys.stderr, flush=True)
        build = ["ninja", "-C", str(folder), f"-j{jobs}", *step.targets]
        if step.again:
            timed(build)
            forget(folder, step.again)
        results[step.name] = timed(build)
    return results


def rows(results: dict[str, Times], known: list[Step], isas: list[str]) -> list[list[str]]:
    """Of all steps that ran, with the sum of the library's before its parts."""
    def row(title, times):
        return [title, f"{times.wall:.0f}", f"{times.processor:.0f}"]

    shown = [row("configure", results["configure"])] if "configure" in results else []
    parts = [results[name] for name in [*isas, "library"] if name in results]
    if len(parts) == len(isas) + 1 > 1:
        shown.append(row("library", Times(sum(part.wall for part in parts), sum(part.processor for part in parts))))
    return shown + [row(step.title, results[step.name]) for step in known if step.name in results]


def machine() -> str:
    """CPU and compiler, as the table's first line shows them."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*: (.*)$", info.read_text(encoding="utf-8"), re.M) if info.exists() else None
    compiler = output_of([os.environ.get("CXX", "c++"), "--version"])
    return f"{named[1] if named else platform.machine()}, {compiler.splitlines()[0]}"


def main() -> None:
    isas = instruction_sets((ROOT / KERNELS).read_text(encoding="utf-8"))
    quickstart_options, quickstart_targets = quickstart_build((ROOT / SCRIPT).read_text(encoding="utf-8"))
    known = steps(isas, quickstart_targets)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[step.name for step in known], metavar="STEP",
                        help=f"times these steps alone, of {', '.join(step.name for step in known)}")
    parser.add_argument("--targets", nargs="+", metavar="TARGET",
                        help="times one step that builds these targets of ninja")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="compilers at once (default: one for each processor)")
    parser.add_argument("--write", action="store_true",
                        help=f"puts the table into {PAGE}; not with --only or --targets")
    arguments = parser.parse_args()
    if arguments.write and (arguments.only or arguments.targets):
        parser.error("--write needs all steps: leave out --only and --targets")
    if arguments.targets:
        known = [Step("targets", ", ".join(arguments.targets), "tests", tuple(arguments.targets))]
    chosen = [step for step in known if not arguments.only or step.name in arguments.only]
    with tempfile.TemporaryDirectory(prefix="mezzo_build_times_") as top:
        results = measure(chosen, {"tests": TESTED, "quickstart": quickstart_options}, arguments.jobs, Path(top))
    text = (f"{machine()}, `ninja -j{arguments.jobs}`, {time.strftime('%Y-%m-%d')}:\n\n"
            + table(["part", "wall seconds", "processor seconds"], rows(results, known, isas)))
    print(text)
    if arguments.write:
        page = ROOT / PAGE
        new = replace_part(page.read_text(encoding="utf-8"), Part(PAGE, "build_times", None), text)
        if new is None:
            raise SystemExit(f"{PAGE} has no markers of the generated part build_times")
        page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
