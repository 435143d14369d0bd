#!/usr/bin/env python3
"""Tests the arithmetic of check.py with measurements that are made up: no MPI is needed."""

import io
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))
import check  # noqa: E402
from simulate import Cluster, run_step  # noqa: E402

PLUGIN = Path("plug-in")


def profile_line(ms: float) -> str:
    """A profile of 1 part forward, 2 and 4 parts of a backward pass and 1 part of updates; 10 numbers in all."""
    rows = [["matmul", "net/a", 1.0], ["matmul_b", "net/b", 2.0], ["matmul_a", "net/a", 4.0],
            ["finish_all_reduce", "", 0.0], ["adam", "", 1.0]]
    return json.dumps({"workload": "net", "policy": "float32", "threads": 1, "items": 8, "ms": ms, "rows": rows,
                       "weights": [["net/a/kernel", 7], ["net/b/kernel", 3]]})


class Network:
    """mpirun: times of all_reduce and of steps, of which each third one is the fastest."""

    def __init__(self, few=0.3, byte_ms=1e-6, added=(0.0, 1.0), step_ms=10.0):
        self.few, self.byte_ms, self.added, self.step_ms = few, byte_ms, added, step_ms
        self.calls = []

    def __call__(self, ranks, program, plugin, cores):
        self.calls.append((ranks, program, plugin, cores))
        slow = 0.0 if len(self.calls) % check.RUNS == 0 else 5.0
        delay = float(program[program.index("--delay") + 1])
        if "steps" in program:
            return {"ms": self.step_ms + 1.5 * delay + slow}
        late = self.added[0] + self.added[1] * delay + slow
        return {"all_reduce": [[8, self.few + late], [1000000, 2 + late],
                               [5000000, 2 + 4000000 * self.byte_ms + late]]}


class Processes:
    """subprocess.Popen: profiles whose times depend on the number of the process."""

    def __init__(self, times):
        self.times, self.commands = list(times), []

    def __call__(self, command, **_):
        self.commands.append(command)
        done = mock.Mock()
        done.communicate.return_value = (profile_line(self.times[len(self.commands) - 1]), None)
        return done


class Check(unittest.TestCase):
    def networks(self, network, ranks, delays, cores):
        with mock.patch.object(check, "mpirun", network):
            return check.measure_network(["program", "exchanges"], ranks, delays, PLUGIN, cores)

    def test_the_costs_of_messages_and_bytes_are_those_of_the_fastest_runs(self):
        network = Network()
        clusters = self.networks(network, 2, [0.0], [4, 5])
        self.assertEqual(list(clusters), [0.0])
        cluster = clusters[0.0]
        self.assertEqual((cluster.nodes, cluster.cores, cluster.ranks, cluster.small), (2, 2, 2, 1))
        self.assertAlmostEqual(cluster.message_cpu, 0.3e-3)  # one message to the other rank
        self.assertAlmostEqual(cluster.byte_cpu, 1e-9)
        self.assertEqual(cluster.latency, 0)
        self.assertEqual(len(network.calls), check.RUNS)
        self.assertEqual(network.calls[0], (2, ["program", "exchanges", "--delay", "0.0"], PLUGIN, [4, 5]))

    def test_ranks_that_share_cores_have_a_part_of_the_time(self):
        cluster = self.networks(Network(), 4, [0.0], [0, 1])[0.0]
        self.assertAlmostEqual(cluster.message_cpu, 0.3e-3 / 2 / 3)  # half a core each, three messages
        self.assertAlmostEqual(cluster.byte_cpu, 1e-9 / 2)
        self.assertEqual((cluster.nodes, cluster.cores, cluster.ranks), (4, 2, 4))

    def test_the_latency_is_what_few_numbers_take_longer(self):
        network = Network(added=(0.0, 2.0))  # two messages one after the other
        clusters = self.networks(network, 2, [1.0, 5.0], [0, 1])
        self.assertEqual(sorted(clusters), [1.0, 5.0])  # without a delay it is measured, not predicted
        self.assertAlmostEqual(clusters[1.0].latency, 2e-3)
        self.assertAlmostEqual(clusters[5.0].latency, 10e-3)
        self.assertAlmostEqual(clusters[5.0].message_cpu, 0.3e-3)
        self.assertEqual(len(network.calls), 3 * check.RUNS)

    def test_noise_gives_no_negative_costs(self):
        cluster = self.networks(Network(byte_ms=-1e-7, added=(0.0, -0.1)), 2, [1.0], [0, 1])[1.0]
        self.assertEqual((cluster.byte_cpu, cluster.latency), (0, 0))

    def test_a_profile_is_the_fastest_beside_others(self):
        for ranks, cores, expected in ((2, [3, 7], 8e-3), (4, [3, 7], 4e-3)):
            # Times of the first process of each run; others are 1 ms, which must not count.
            times = [time for first in (11.0, 8.0, 9.0) for time in [first, *[1.0] * (ranks - 1)]]
            processes = Processes(times)
            with mock.patch.object(check.subprocess, "Popen", processes):
                profile = check.busy_profile(["program", "profile"], ranks, PLUGIN, cores)
            self.assertAlmostEqual(run_step(profile, Cluster()), expected)  # as if a core were its own
            self.assertEqual(len(processes.commands), check.RUNS * ranks)
            self.assertEqual([command[2] for command in processes.commands[:ranks]], ["3", "7", "3", "7"][:ranks])
            self.assertEqual(processes.commands[0], ["taskset", "-c", "3", "program", "profile"])

    def run_main(self, network, *arguments):
        """Exit code and rows of the table. A step without network takes 8 ms."""
        out = io.StringIO()
        with tempfile.NamedTemporaryFile() as plugin, mock.patch.object(check, "mpirun", network), \
                mock.patch.object(check.subprocess, "Popen", Processes([8.0] * 100)), \
                mock.patch.object(check.os, "sched_getaffinity", lambda _: {1, 0}), \
                mock.patch.object(check.shutil, "which", lambda _: "mpirun"), \
                mock.patch.object(sys, "argv", ["check.py", "--plugin", plugin.name, *arguments]), redirect_stdout(out):
            code = check.main()
        return code, [[cell.strip() for cell in line.strip("|").split("|")] for line in out.getvalue().splitlines()]

    def test_a_table_compares_predictions_with_steps(self):
        # Messages cost nothing but the latency: of the bucket, which is ready last, and of the reduction at the end.
        code, rows = self.run_main(Network(few=0.0, byte_ms=0.0, step_ms=8.0), "--ranks", "2", "--delays", "0", "2")
        self.assertEqual(rows, [["ranks", "added latency", "measured", "predicted", "difference"], ["---"] * 5,
                                ["2", "0 ms", "8.00 ms", "8.00 ms", "+0 %"],
                                ["2", "2 ms", "11.00 ms", "12.00 ms", "+9 %"]])
        self.assertEqual(code, 0)

    def test_a_difference_above_the_limit_is_a_failure(self):
        network = Network(few=0.0, byte_ms=0.0, step_ms=10.0)  # 20 % less is predicted
        for most, expected in (("15", 1), ("21", 0)):
            code, rows = self.run_main(network, "--ranks", "2", "--delays", "0", "--most", most)
            self.assertEqual((code, rows[2][4]), (expected, "-20 %"))
            network.calls.clear()

    def test_it_is_skipped_without_mpi(self):
        with mock.patch.object(check.shutil, "which", lambda _: None), redirect_stdout(io.StringIO()) as out, \
                mock.patch.object(sys, "argv", ["check.py"]):
            self.assertEqual(check.main(), 77)
        self.assertIn("skipped: mpirun and the plug-in mezzo_mpi are needed", out.getvalue())


if __name__ == "__main__":
    unittest.main()
