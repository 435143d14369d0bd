#!/usr/bin/env python3
"""Tests how compare.py evaluates lines of JSON, without running any side."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import records  # noqa: E402
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

    def test_the_kind_of_a_cpu(self):
        text = "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nflags\t: avx2 avx512f"
        self.assertEqual(records.cpu(text + " avx512_bf16\n\nmodel\t: 3"),
                         {"file": "amd-26-2-avx512_bf16.json", "name": "AMD EPYC", "family": "26", "model": "2",
                          "isa": "AVX512_BF16"})
        self.assertEqual(records.cpu("flags : sse2")["file"], "other-0-0-sse2.json")

    def test_a_record_compares_float32_with_float32(self):
        runs = {"mezzo float32": lines(20, 30, 40), "mezzo mixed_bfloat16": lines(60, None, 60),
                "torch fp32": lines(10, 10, 10), "torch bf16+compile": lines(30, 30, 30), "torch bf16": lines(None)}
        record = records.workload_record(runs, 80, 3, 5)
        self.assertEqual([(side["policy"], side["per_s"], side["ratio"], side["peer"]["name"])
                          for side in record["sides"]],
                         [("float32", 30, [3, 2, 4], "torch fp32"),
                          ("mixed_bfloat16", 60, [2, 2, 2], "torch bf16+compile")])
        self.assertNotIn("peer", records.workload_record({"mezzo float32": lines(1)}, 0, 1, 5)["sides"][0])

    def test_records_are_kept_per_workload_and_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs").mkdir()
            self.assertIsNone(records.tables(root, None))
            for workload, speed in [("mlp", 10), ("cnn", 20), ("mlp", 30)]:
                record = records.workload_record({"mezzo float32": lines(speed), "torch fp32": lines(10)}, 60, 1, 5)
                path = records.keep(root, workload, record, 2, "model name : Some CPU\nflags : avx2")
            self.assertEqual(path.name, "other-0-0-avx2.json")

            def table(head, rows):
                return "\n".join("|".join(row) for row in [head, *rows])

            shown = records.tables(root, table)
            self.assertIn("### Some CPU, family ?, model ?: AVX2, 2 threads", shown)
            today = record["date"]
            self.assertEqual(shown.splitlines()[3:],
                             [f"mlp|float32|30.0|torch fp32: 10.0|3.00 (3.00-3.00)|50 %|0.10 / 0.10|20 / 20|{today}",
                              f"cnn|float32|20.0|torch fp32: 10.0|2.00 (2.00-2.00)|33 %|0.10 / 0.10|20 / 20|{today}"])
            sides = {"mezzo float32": lines(30), "mezzo mixed_bfloat16": lines(60), "torch fp32": lines(10)}
            records.keep(root, "mlp", records.workload_record(sides, 60, 1, 5), 2, "model name : Some CPU\nflags : avx2")
            self.assertEqual(records.overview(root, table).splitlines(),
                             ["**Some CPU, family ?, model ?: AVX2, 2 threads**", "",
                              "workload|float32, per s|x peer|mixed_bfloat16, per s|x peer",
                              "mlp|30.0|3.00 (3.00-3.00)|60.0|6.00 (6.00-6.00)", "cnn|20.0|2.00 (2.00-2.00)||"])


if __name__ == "__main__":
    unittest.main()
