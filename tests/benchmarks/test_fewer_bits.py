"""Tests of the tables of docs/fewer_bits.md."""

import json
import tempfile
import unittest
from pathlib import Path

import fewer_bits

LINES = [
    {"task": "mlp", "config": "float32", "seed": 0, "accuracy": 80, "weights_kib": 100, "step_ms": 3},
    {"task": "mlp", "config": "mixed_bfloat16", "seed": 0, "accuracy": 79.5, "weights_kib": 100, "step_ms": 2},
    {"task": "mlp", "config": "int8-mixed", "seed": 0, "accuracy": 80.5, "weights_kib": 100, "step_ms": 1.5},
    {"task": "mlp", "config": "int8 weights", "seed": 0, "accuracy": 79, "weights_kib": 25, "predict_ms": 1},
    {"task": "mlp", "config": "int8 weights", "seed": 1, "accuracy": 70, "weights_kib": 25},
    {"task": "gpt", "config": "mixed_bfloat16", "seed": 0, "loss": 2, "weights_kib": 10, "right": 50},
    {"task": "gpt", "config": "int8-mixed", "seed": 0, "loss": 2.5, "weights_kib": 10, "right": 49.5},
    {"task": "gpt", "config": "int8-mixed", "seed": 1, "loss": 2.5, "weights_kib": 10},
]


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        path = self.root / fewer_bits.RECORD
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(json.dumps(line) for line in LINES) + "\n", encoding="utf-8")

    def test_differences_pair_seeds_and_are_positive_if_better(self):
        rows = {row[0]: row for row in fewer_bits.task_rows(self.root, "mlp")}
        self.assertEqual(rows["float32"][3:6], ["", "", ""])
        self.assertEqual(rows["int8-mixed"][3:6], ["+1.00", "", "mixed_bfloat16"])
        self.assertEqual(rows["int8 weights"][1:6], ["74.50", "2", "-1.00", "", "float32"])

    def test_losses_differ_in_per_cent(self):
        rows = {row[0]: row for row in fewer_bits.task_rows(self.root, "gpt")}
        self.assertEqual(rows["int8-mixed"][3], "-25.00 %")

    def test_characters_that_are_right_stand_beside_losses(self):
        rows = {row[0]: row for row in fewer_bits.task_rows(self.root, "gpt")}
        self.assertEqual(rows["mixed_bfloat16"][-2:], ["50.00", ""])
        self.assertEqual(rows["int8-mixed"][-2:], ["49.50", "-0.50"])

    def test_times_are_ratios_to_the_first_policy(self):
        rows = {row[0]: row for row in fewer_bits.task_rows(self.root, "mlp")}
        self.assertEqual([row[7] for row in rows.values()], ["1.00", "1.50", "2.00", ""])

    def test_a_task_without_lines_says_so(self):
        self.assertEqual(fewer_bits.task_table(self.root, "cnn", None), "Not recorded yet.\n")
        self.assertIsNone(fewer_bits.generation(self.root, None))


if __name__ == "__main__":
    unittest.main()
