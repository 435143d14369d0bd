#!/usr/bin/env python3
"""Tests how compare.py evaluates lines of JSON, without running any side."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from compare import fastest, ratios, table  # noqa: E402
from sides import Line, Side, problems  # noqa: E402

GOOD: Line = {"framework": "mezzo 1", "workload": "mlp", "config": "float32", "per_s": 10.0, "best": 11.0, "ms": 3.0,
              "first_s": 0.1, "first_touch_s": 0.0, "rss_mib": 20, "loss": 0.5}


def lines(*speeds: float | None) -> list[Line | None]:
    return [{**GOOD, "per_s": speed} if speed else None for speed in speeds]


class Compare(unittest.TestCase):
    def test_ratios_are_taken_within_a_round_where_both_ran(self):
        runs = {"a": lines(20, 30, None, 8), "b": lines(10, 10, 10, None)}
        self.assertEqual(ratios(runs, "a", "b"), [2, 3])
        self.assertEqual(ratios(runs, "a", "b", "best"), [1, 1])

    def test_the_fastest_is_so_in_the_median_and_ran(self):
        sides = [Side(name, (), ()) for name in "abc"]
        runs = {"a": lines(1, 9, 1), "b": lines(2, 2, 2), "c": lines(None, None, None)}
        self.assertEqual(fastest(runs, sides), "b")
        self.assertIsNone(fastest(runs, sides[2:]))

    def test_a_table_has_a_line_for_each_side(self):
        shown = table({"mezzo": lines(30, 20), "torch": lines(10, 10), "other": lines(None, None)}, "torch", 50)
        self.assertEqual(shown[1].split(), ["mezzo", "25.0", "2.50", "2.00-3.00", "50", "%", "0.10", "20"])
        self.assertEqual(shown[2].split(), ["torch", "10.0", "1.00", "1.00-1.00", "20", "%", "0.10", "20"])
        self.assertEqual(shown[3].split(), ["other", "fails"])

    def test_a_table_without_peers_and_roofline(self):
        self.assertEqual(table({"mezzo": lines(30)}, None, 0)[1].split(), ["mezzo", "30.0", "0.10", "20"])

    def test_problems(self):
        self.assertEqual(problems(GOOD, "mlp", "float32"), [])
        self.assertEqual(problems(None, "mlp", "float32"), ["no line of JSON"])
        self.assertEqual(problems({**GOOD, "loss": float("nan")}, "cnn", "float32"),
                         ["workload is 'mlp'", "loss is nan"])
        self.assertEqual(problems({k: v for k, v in GOOD.items() if k != "ms"}, "mlp", "float32"), ["ms is None"])


if __name__ == "__main__":
    unittest.main()
