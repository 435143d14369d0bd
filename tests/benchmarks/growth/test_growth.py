#!/usr/bin/env python3
"""Tests how growth.py judges and draws lines. With the path of mezzo_growth as argument: that a tiny run works."""

import json
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from growth import SIZES, TINY, draw, findings, runs, slope  # noqa: E402
from plot import chart, powers  # noqa: E402

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else ""
SVG = "{http://www.w3.org/2000/svg}"


def lines(axis: str, time: float, memory: float) -> list[dict[str, object]]:
    """A model whose time and memory grow with these exponents."""
    return [{"axis": axis, "model": "gpt", "policy": "float32", axis: size, "ms": 0.5 * size**time,
             "mib": 3.0 * size**memory} for size in SIZES[axis]]


class Growth(unittest.TestCase):
    def test_a_slope_is_the_exponent(self):
        self.assertAlmostEqual(slope([(x, 7 * x**1.5) for x in (2, 4, 8, 16)]), 1.5)

    def test_more_than_the_work_is_found(self):
        self.assertEqual(findings(lines("batch", 1, 1))[1], [])
        self.assertEqual(findings(lines("width", 2, 2))[1], [])
        self.assertEqual(findings(lines("length", 2, 1))[1], [])
        self.assertEqual(len(findings(lines("length", 2, 2))[1]), 1)
        self.assertEqual(len(findings(lines("depth", 1.4, 1))[1]), 1)

    def test_only_the_largest_sizes_are_judged(self):
        flat_first = lines("batch", 0, 1)
        for line in flat_first[-3:]:
            line["ms"] = line["batch"] ** 2
        self.assertEqual(len(findings(flat_first)[1]), 1)

    def test_each_run_changes_one_size(self):
        for axis, sizes in SIZES.items():
            for model, all_sizes in runs(axis, sizes):
                self.assertIn(all_sizes[axis], sizes)
                self.assertTrue(axis != "length" or model == "gpt")

    def test_marks_cover_the_curve(self):
        for low, high in [(0.02, 3000), (5, 6), (1, 1e9), (100, 100)]:
            marks = powers(low, high)
            self.assertTrue(marks[0] <= low and marks[-1] >= high and 2 <= len(marks) <= 8, marks)

    def test_a_chart_is_valid_and_has_each_point_inside(self):
        points = [(1.0, 2.0), (2.0, 5.0), (4.0, 9.0)]
        root = xml.fromstring(chart("batch", [("time <ms>", {"a": points, "b": points}, {"a": 1.0, "b": 2.0})],
                                     ["a", "b"]))
        circles = root.findall(f"{SVG}circle")
        self.assertEqual(len(circles), 6)
        width, height = float(root.get("width")), float(root.get("height"))
        for mark in circles:
            self.assertTrue(0 < float(mark.get("cx")) < width and 0 < float(mark.get("cy")) < height)

    def test_a_file_for_each_axis_that_was_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            drawn = draw(lines("batch", 1, 1) + lines("depth", 1, 1), Path(folder))
            self.assertEqual([path.name for path in drawn], ["growth_batch.svg", "growth_depth.svg"])

    @unittest.skipUnless(PROGRAM, "needs mezzo_growth")
    def test_a_tiny_run(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(__file__).parent / "growth.py"
            done = subprocess.run([sys.executable, str(script), "--program", PROGRAM, "--tiny", "--seconds", "0",
                                   "--out", folder], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            measured = [json.loads(line) for line in (Path(folder) / "growth.jsonl").read_text().splitlines()]
            expected = sum(2 * len(runs(axis, sizes)) for axis, sizes in TINY.items())
            self.assertEqual(len(measured), expected)
            for line in measured:
                self.assertTrue(all(line[name] > 0 for name in ("ms", "rss_mib", "arena_mib", "weights_mib")), line)
            for axis in TINY:
                xml.parse(Path(folder) / f"growth_{axis}.svg")


if __name__ == "__main__":
    unittest.main()
