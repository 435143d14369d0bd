#!/usr/bin/env python3
"""Plants each bug of mutants.json in a copy of the source tree and runs the tests. Prints the bugs that no test notices.

A mutant is a patch of one place:
  id, why      its name, and what it breaks
  file         path from the root of the source tree
  old, new     text that occurs exactly once in the file, and its replacement
  tests        test programs that should notice it, in order: "ops" is all of test_ops, "training:fit,predict" two suites
  equivalent   reason why no test can notice it; only for patches that change nothing

For each mutant: patches the copy, builds the programs of `tests` and runs them; if they pass, builds everything and
runs ctest. Stops at the first failure, and restores the file. A mutant that doesn't compile counts as a fault of the
list.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FIELDS = {"id", "why", "file", "old", "new", "tests"}
SKIPPED = 77  # exit code of a test program that skipped a case


def load(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def faults_of(mutants, root):
    """What is wrong with a list: `id: text` for each fault."""
    faults, seen = [], set()
    for mutant in mutants:
        name = mutant.get("id", "a mutant without id")
        if missing := FIELDS - mutant.keys():
            faults.append(f"{name}: must have {', '.join(sorted(missing))}")
            continue
        if unknown := mutant.keys() - FIELDS - {"equivalent"}:
            faults.append(f"{name}: unknown field {', '.join(sorted(unknown))}")
        if name in seen:
            faults.append(f"{name}: must be named once; got it twice")
        seen.add(name)
        if mutant["old"] == mutant["new"]:
            faults.append(f"{name}: old and new must differ")
        path = root / mutant["file"]
        if not path.is_file():
            faults.append(f"{name}: no file {mutant['file']}")
            continue
        count = path.read_text(encoding="utf-8").count(mutant["old"])
        if count != 1:
            faults.append(f"{name}: old must occur once in {mutant['file']}; got {count} times")
        for entry in mutant["tests"]:
            folder, _, suites = entry.partition(":")
            for suite in suites.split(",") if suites else []:
                if not (root / "tests" / folder / f"test_{suite}.cpp").is_file():
                    faults.append(f"{name}: no file tests/{folder}/test_{suite}.cpp")
            if not (root / "tests" / folder).is_dir():
                faults.append(f"{name}: no folder tests/{folder}")
    return faults


def same(a, b):
    return b.is_file() and a.stat().st_size == b.stat().st_size and a.read_bytes() == b.read_bytes()


def copy_sources(root, copy):
    """Makes `copy` equal to the sources of `root`, uncommitted changes included. Keeps times of files that are equal."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout
    names = {name for name in listed.split("\0") if name and (root / name).is_file()}
    for name in names:
        to = copy / name
        if not same(root / name, to):
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, to)
    for path in copy.rglob("*"):
        if path.is_file() and str(path.relative_to(copy)) not in names:
            path.unlink()


class Patch:
    """The patched file of a mutant, inside `with`. Restored at the end, whatever happens."""

    def __init__(self, copy, mutant):
        self.path, self.mutant = copy / mutant["file"], mutant

    def __enter__(self):
        self.before = self.path.read_text(encoding="utf-8")
        self.path.write_text(self.before.replace(self.mutant["old"], self.mutant["new"], 1), encoding="utf-8")

    def __exit__(self, *_):
        self.path.write_text(self.before, encoding="utf-8")


class Project:
    """A build folder of the copy."""

    def __init__(self, copy, build, jobs, timeout):
        self.copy, self.folder, self.jobs, self.timeout = copy, build, jobs, timeout
        self.environment = {**os.environ, "CCACHE_BASEDIR": str(copy), "CCACHE_NOHASHDIR": "1"}

    def configure(self):
        subprocess.run(["cmake", "-S", self.copy, "-B", self.folder, "-G", "Ninja", "--log-level=WARNING", "-Wno-dev",
                        "-DMEZZO_BUILD_TESTS=ON", "-DMEZZO_BUILD_TUTORIALS=OFF"], check=True, env=self.environment)

    def build(self, targets):
        """The last lines of the output if the build fails, else "". Warnings are no errors."""
        done = subprocess.run(["ninja", "-C", self.folder, f"-j{self.jobs}", *targets], env=self.environment,
                              capture_output=True, text=True)
        return done.stdout[-2000:] if done.returncode else ""

    def passes(self, command):
        """False also for a run that takes too long: a mutant may loop for ever."""
        try:
            done = subprocess.run(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  timeout=self.timeout)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode in (0, SKIPPED)

    def run(self, entry):
        """Builds and runs an entry of `tests`: "passed", "failed" or "not built"."""
        folder, _, suites = entry.partition(":")
        program = "test_" + folder.replace("/", "_")
        if self.build([program]):
            return "not built"
        command = [self.folder / "tests" / program] + [f"--run_test={suites}"] * bool(suites)
        return "passed" if self.passes(command) else "failed"

    def run_all(self):
        if self.build([]):
            return "not built"
        # The sources are patched, so the checks of sources are no tests of behaviour.
        return "passed" if self.passes(["ctest", "--test-dir", self.folder, "--stop-on-failure", "--exclude-regex",
                                        "^(mutants|structure)", f"-j{self.jobs}"]) else "failed"


def fate_of(mutant, project, quick):
    """What becomes of a mutant: "killed by ...", "survived" or "not built"."""
    with Patch(project.copy, mutant):
        for entry in mutant["tests"]:
            result = project.run(entry)
            if result == "failed":
                return f"killed by {entry}"
            if result == "not built":
                return result
        if not quick:
            result = project.run_all()
            if result != "passed":
                return "killed by another test" if result == "failed" else result
    return "survived"


def run(mutants, project, quick):
    """Fates by id. Tests that fail without any mutant end the program: they would kill all."""
    project.configure()
    for entry in sorted({entry for mutant in mutants for entry in mutant["tests"]}):
        result = project.run(entry)
        if result != "passed":
            sys.exit(f"{entry}: {result} without a mutant")
    fates = {}
    for mutant in mutants:
        start = time.monotonic()
        fates[mutant["id"]] = fate_of(mutant, project, quick)
        print(f"{mutant['id']}: {fates[mutant['id']]}, {time.monotonic() - start:.0f} s", flush=True)
    return fates


def summary(mutants, fates):
    """Text about the result, and the number of mutants that call for a change of tests or list."""
    counts = {"killed": sum(fate.startswith("killed") for fate in fates.values())}
    lines, bad = [], 0
    for mutant in mutants:
        fate, reason = fates[mutant["id"]], mutant.get("equivalent", "")
        if fate.startswith("killed"):
            continue
        counts[fate] = counts.get(fate, 0) + 1
        excused = fate == "survived" and reason != ""
        bad += not excused
        lines.append(f"{fate}: {mutant['id']} ({mutant['file']}): {mutant['why']}" + f"; {reason}" * excused)
    lines.append(f"{len(mutants)} mutants: " + ", ".join(f"{n} {fate}" for fate, n in counts.items()))
    return "\n".join(lines), bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only checks that each patch applies exactly once")
    parser.add_argument("--only", default="", metavar="REGEX", help="mutants whose id matches")
    parser.add_argument("--quick", action="store_true", help="runs the programs of `tests` alone, never all")
    parser.add_argument("--folder", default=ROOT / "build" / "mutants", type=Path, metavar="PATH",
                        help="for the copy of the sources and its build; default: %(default)s")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int, help="default: %(default)s")
    parser.add_argument("--timeout", default=1800, type=float, metavar="SECONDS", help="of each run of tests")
    options = parser.parse_args()

    mutants = load(HERE / "mutants.json")
    if faults := faults_of(mutants, ROOT):
        sys.exit("\n".join(faults))
    if options.check:
        print(f"{len(mutants)} mutants apply")
        return
    mutants = [mutant for mutant in mutants if re.search(options.only, mutant["id"])]
    folder = options.folder.resolve()
    copy_sources(ROOT, folder / "source")  # also restores what a killed run left
    project = Project(folder / "source", folder / "build", options.jobs, options.timeout)
    text, bad = summary(mutants, run(mutants, project, options.quick))
    print(text)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
