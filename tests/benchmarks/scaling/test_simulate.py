#!/usr/bin/env python3
"""Tests the simulation of many machines on steps whose time is known. MEZZO_SCALING: mezzo_scaling, for a profile."""

import json
import os
import subprocess
import sys
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from simulate import (Cluster, Gradient, Profile, buckets_of, phases, predict, read_profile,  # noqa: E402
                      run_step, table)

# 1 s of a forward pass, 2 s and 4 s of a backward pass, each with a gradient of 100 elements, 1 s of updates.
STEP = Profile(workload="net", threads=1, items=1, backward=(1.0, 2.0, 4.0), updates=1.0,
               gradients=(Gradient(1, 100), Gradient(2, 100)), copy_in=0, copy_out=0)
TWO_BUCKETS = Cluster(nodes=2, cores=2, bucket=100, wire_bytes=100, small=0)  # of 10,000 bytes


class Simulate(unittest.TestCase):
    def test_a_profile_is_read(self):
        rows = [["matmul", "net/a", 1.0], ["relu", "net/b", 2.0], ["matmul_b", "net/b", 3.0],
                ["start_all_reduce", "", 5.0], ["matmul_a", "net/a", 4.0], ["start_all_reduce", "", 5.0],
                ["finish_all_reduce", "", 20.0], ["adam", "", 7.0], ["finish_all_reduce", "", 20.0], ["adam", "", 1.0]]
        text = json.dumps({"workload": "net", "policy": "float32", "threads": 1, "items": 8, "ms": 68, "rows": rows,
                           "weights": [["net/a/kernel", 6], ["net/b/kernel", 3], ["net/lost", 1]]})
        profile = read_profile(text)
        self.assertEqual(profile.gradients, (Gradient(2, 3), Gradient(4, 6), Gradient(5, 1)))
        self.assertEqual(profile.backward, (1e-3, 2e-3, 3e-3, 0, 4e-3, 0))
        self.assertAlmostEqual(profile.updates, 8e-3)
        self.assertAlmostEqual(profile.copy_in, 1e-3)
        self.assertAlmostEqual(profile.copy_out, 4e-3)
        self.assertAlmostEqual(run_step(profile, Cluster()), 68e-3)
        self.assertAlmostEqual(run_step(read_profile(text.replace('"ms": 68', '"ms": 34')), Cluster()), 34e-3)
        with self.assertRaisesRegex(ValueError, "finish_all_reduce"):
            read_profile(text.replace("finish_all_reduce", "finish"))

    @unittest.skipUnless("MEZZO_SCALING" in os.environ, "no program")
    def test_a_profile_of_the_program_is_read(self):
        done = subprocess.run([os.environ["MEZZO_SCALING"], "profile", "mlp", "float32", "--steps", "2"], check=True,
                              capture_output=True, text=True, timeout=100)
        profile = read_profile(done.stdout)
        self.assertEqual(sum(gradient.elements for gradient in profile.gradients),
                         sum(count for _, count in json.loads(done.stdout)["weights"]))
        end = len(profile.backward) - 1
        self.assertTrue(all(gradient.ready < end for gradient in profile.gradients), profile.gradients)
        self.assertGreater(profile.copy_in, 0)
        self.assertGreater(run_step(profile, Cluster()), profile.updates)

    def test_a_step_of_one_machine_is_the_sum_of_its_rows(self):
        self.assertAlmostEqual(run_step(STEP, Cluster()), 8)
        self.assertAlmostEqual(run_step(replace(STEP, copy_in=0.01, copy_out=0.02), Cluster()), 14)

    def test_buckets_are_filled_in_the_order_of_the_gradients(self):
        self.assertEqual(buckets_of(STEP, 100), [(1, 100), (2, 100)])
        self.assertEqual(buckets_of(STEP, 101), [(2, 200)])
        self.assertEqual(buckets_of(STEP, 1000), [(2, 200)])

    def test_the_network_waits_beside_the_backward_pass(self):
        # 2 (0.5 + 10000 / 2 / 10000) = 2 s for each bucket; the first is hidden behind 4 s.
        cluster = replace(TWO_BUCKETS, latency=0.5, bandwidth=10000)
        self.assertAlmostEqual(run_step(STEP, cluster), 7 + 2 + 0.5)  # an update of 0.5 s is hidden as well
        self.assertAlmostEqual(run_step(STEP, replace(cluster, bucket=200)), 7 + 2 * (0.5 + 1) + 1)
        # The network is the limit: both buckets one after the other from second 3 on.
        self.assertAlmostEqual(run_step(STEP, replace(cluster, bandwidth=100)), 3 + 4 * (0.5 + 50) + 0.5)

    def test_small_reductions_end_a_step(self):
        self.assertAlmostEqual(run_step(STEP, replace(TWO_BUCKETS, small=3, latency=0.001)), 8 + 0.003)

    def test_sums_of_messages_share_the_cores(self):
        busy = replace(TWO_BUCKETS, byte_cpu=1e-4)  # 1 s of a core for each bucket
        self.assertAlmostEqual(run_step(STEP, busy), 7 + 1 + 0.5)
        self.assertAlmostEqual(run_step(STEP, replace(busy, cores=1)), 8 + 2)  # nothing runs beside anything
        self.assertAlmostEqual(run_step(STEP, replace(TWO_BUCKETS, ranks=4)), 16)  # 4 ranks on 2 cores

    def test_waiting_uses_no_core(self):
        cluster = replace(TWO_BUCKETS, cores=1, ranks=2, latency=1)  # half a core: computations take twice as long
        self.assertAlmostEqual(run_step(STEP, cluster), 14 + 2 + 1)

    def test_ways_to_reduce(self):
        def wire(algorithm: str, nodes: int, size: int = 80000) -> float:
            cluster = Cluster(nodes=nodes, algorithm=algorithm, latency=3, bandwidth=10000)
            return sum(seconds for on_core, seconds in phases(size, cluster) if not on_core)

        self.assertAlmostEqual(wire("direct", 8), 2 * (3 + 7))
        self.assertAlmostEqual(wire("direct", 8, 4000), 3 + 2.8)
        self.assertAlmostEqual(wire("ring", 8), 14 * (3 + 1))
        self.assertAlmostEqual(wire("tree", 8), 6 * 3 + 16)
        self.assertEqual(phases(80000, Cluster(nodes=1)), [])
        messages = {name: phases(0, Cluster(nodes=8, algorithm=name, message_cpu=1))[0][1]
                    for name in ("direct", "ring", "tree")}
        self.assertEqual(messages, {"direct": 7, "ring": 14, "tree": 6})

    def test_all_wait_for_the_slowest(self):
        straggling = replace(TWO_BUCKETS, straggling=0.1)
        alone, two, many = (predict(STEP, replace(straggling, nodes=nodes)) for nodes in (1, 2, 1000))
        self.assertTrue(7.6 < alone < 8.4, alone)
        self.assertTrue(alone < two < many, (alone, two, many))
        self.assertTrue(1.3 < many / 8 < 1.45, many)  # the largest of 1,000 normal numbers is about 3.24
        self.assertEqual(predict(STEP, replace(TWO_BUCKETS, nodes=1000)), 8)

    def test_a_table_has_a_row_for_each_network(self):
        cluster = replace(TWO_BUCKETS, latency=0)
        head, *rows = table([STEP], cluster, [8e-5, 8], ["direct", "ring"], [2, 4])
        self.assertEqual(head, ["workload", "Gb/s", "all-reduce", "1 machine", "2", "4"])
        self.assertEqual([row[:3] for row in rows],
                         [["net", "8e-05", "direct"], ["net", "8e-05", "ring"], ["net", "8", "direct"],
                          ["net", "8", "ring"]])
        self.assertEqual(rows[0][3:5], ["8000 ms", "94 %"])  # a bucket takes 1 s, half a second of it is seen
        self.assertEqual(rows[3][4:], ["100 %", "100 %"])


if __name__ == "__main__":
    unittest.main()
