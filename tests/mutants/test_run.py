"""Tests of run.py without a build."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from run import Patch, copy_sources, fate_of, faults_of, summary


class FakeProject:
    """Runs tests as a script says: results of entries, in order, then of all tests."""

    def __init__(self, copy, results, everything="passed"):
        self.copy, self.results, self.everything = copy, results, everything
        self.seen = []

    def run(self, entry):
        self.seen.append((self.copy / "a.cpp").read_text())
        return self.results[entry]

    def run_all(self):
        return self.everything


class Mutants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "a.cpp").write_text("int x = 1;\nint y = 1;\n")
        (self.root / "tests" / "ops").mkdir(parents=True)
        (self.root / "tests" / "ops" / "test_names.cpp").write_text("")
        self.mutant = {"id": "one", "why": "x is 2", "file": "a.cpp", "old": "x = 1", "new": "x = 2",
                       "tests": ["ops:names", "ops"]}

    def faults(self, **changes):
        return faults_of([{**self.mutant, **changes}], self.root)

    def test_a_good_list_has_no_faults(self):
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.faults(equivalent="nobody reads x"), [])

    def test_faults_are_named(self):
        self.assertEqual(self.faults(old="z"), ["one: old must occur once in a.cpp; got 0 times"])
        self.assertEqual(self.faults(old="= 1"), ["one: old must occur once in a.cpp; got 2 times"])
        self.assertEqual(self.faults(file="b.cpp"), ["one: no file b.cpp"])
        self.assertEqual(self.faults(new="x = 1"), ["one: old and new must differ"])
        self.assertEqual(self.faults(test=[]), ["one: unknown field test"])
        self.assertEqual(self.faults(tests=["ops:add", "op"]),
                         ["one: no file tests/ops/test_add.cpp", "one: no folder tests/op"])
        self.assertEqual(faults_of([self.mutant] * 2, self.root), ["one: must be named once; got it twice"])
        self.assertEqual(faults_of([{"id": "two"}], self.root), ["two: must have file, new, old, tests, why"])

    def test_the_file_is_restored_after_an_error(self):
        with self.assertRaises(KeyboardInterrupt):
            with Patch(self.root, self.mutant):
                self.assertEqual((self.root / "a.cpp").read_text(), "int x = 2;\nint y = 1;\n")
                raise KeyboardInterrupt
        self.assertEqual((self.root / "a.cpp").read_text(), "int x = 1;\nint y = 1;\n")

    def fate(self, first, second, everything="passed", quick=False):
        project = FakeProject(self.root, {"ops:names": first, "ops": second}, everything)
        fate = fate_of(self.mutant, project, quick)
        self.assertEqual(set(project.seen), {"int x = 2;\nint y = 1;\n"})
        return fate

    def test_the_first_failure_decides(self):
        self.assertEqual(self.fate("failed", "passed"), "killed by ops:names")
        self.assertEqual(self.fate("passed", "failed"), "killed by ops")
        self.assertEqual(self.fate("passed", "passed", "failed"), "killed by another test")
        self.assertEqual(self.fate("passed", "passed"), "survived")
        self.assertEqual(self.fate("passed", "passed", "failed", quick=True), "survived")
        self.assertEqual(self.fate("not built", "passed"), "not built")

    def test_survivors_without_a_reason_are_bad(self):
        text, bad = summary([self.mutant], {"one": "survived"})
        self.assertEqual((text, bad), ("survived: one (a.cpp): x is 2\n1 mutants: 0 killed, 1 survived", 1))
        text, bad = summary([{**self.mutant, "equivalent": "nobody reads x"}], {"one": "survived"})
        self.assertEqual(bad, 0)
        self.assertIn("x is 2; nobody reads x", text)
        self.assertEqual(summary([self.mutant], {"one": "killed by ops"}), ("1 mutants: 1 killed", 0))
        self.assertEqual(summary([self.mutant], {"one": "not built"})[1], 1)

    def test_a_copy_is_brought_up_to_date(self):
        root, copy = self.root / "tree", self.root / "copy"
        root.mkdir()
        subprocess.run(["git", "init", "--quiet", root], check=True)
        (root / "kept").write_text("1")
        copy_sources(root, copy)
        before = (copy / "kept").stat().st_mtime_ns
        (copy / "stale").write_text("")
        (root / "new").write_text("2")
        copy_sources(root, copy)
        self.assertEqual(sorted(path.name for path in copy.iterdir()), ["kept", "new"])
        self.assertEqual((copy / "kept").stat().st_mtime_ns, before)
        (copy / "kept").write_text("patched")
        copy_sources(root, copy)
        self.assertEqual((copy / "kept").read_text(), "1")


if __name__ == "__main__":
    unittest.main()
