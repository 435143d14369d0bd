#!/usr/bin/env python3
"""Shows how build_times.py reads the project and makes its table, without a build."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import build_times  # noqa: E402
from build_times import EDITED, KERNELS, PAGE, ROOT, SCRIPT, Times  # noqa: E402


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


class BuildTimes(unittest.TestCase):
    def test_files_of_the_project(self):
        self.assertIn("avx2", build_times.instruction_sets(read(KERNELS)))
        self.assertIn("quickstart", build_times.quickstart_build(read(SCRIPT))[1])
        self.assertTrue((ROOT / EDITED).is_file())
        part = build_times.Part(PAGE, "build_times", None)
        self.assertIn("\nnew\n", build_times.replace_part(read(PAGE), part, "new\n"))

    def test_options_of_quickstart(self):
        script = 'configure "$build" -DA=ON "-DB=c d"\ncompile "$build" one two\n'
        self.assertEqual(build_times.quickstart_build(script), (["-DA=ON", "-DB=c d"], ("one", "two")))
        with self.assertRaisesRegex(SystemExit, "must have lines"):
            build_times.quickstart_build("")

    def test_objects_of_a_source(self):
        deps = ("a/batch_1.o: #deps 2, deps mtime 1 (VALID)\n    /x/framework/mezzo/layers/add.cpp\n"
                "    /x/framework/mezzo/layers/dense.cpp\n\nb.o: #deps 1, deps mtime 1 (VALID)\n    /x/b.cpp\n\n")
        self.assertEqual(build_times.objects_of(deps, "framework/mezzo/layers/dense.cpp"), ["a/batch_1.o"])
        self.assertEqual(build_times.objects_of(deps, "layers/gone.cpp"), [])

    def test_rows(self):
        known = build_times.steps(["sse2", "avx2"], ("quickstart",))
        self.assertEqual([step.name for step in known], ["sse2", "avx2", "library", "layer", "tests", "quickstart"])
        results = {"configure": Times(1.4, 1.2), "sse2": Times(10, 20), "avx2": Times(11, 21), "library": Times(30, 60)}
        self.assertEqual(build_times.rows(results, known, ["sse2", "avx2"]),
                         [["configure", "1", "1"], ["library", "51", "101"], ["library: kernels for sse2", "10", "20"],
                          ["library: kernels for avx2", "11", "21"], ["library: everything else", "30", "60"]])
        del results["avx2"]
        self.assertEqual([row[0] for row in build_times.rows(results, known, ["sse2", "avx2"])],
                         ["configure", "library: kernels for sse2", "library: everything else"])

    def test_time_of_a_command(self):
        times = build_times.timed([sys.executable, "-c", "sum(range(3 * 10**6))"])
        self.assertGreater(times.processor, 0)
        self.assertGreater(times.wall, 0)
        with self.assertRaisesRegex(SystemExit, "failed: false"):
            build_times.timed(["false"])


if __name__ == "__main__":
    unittest.main()
