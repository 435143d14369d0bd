#!/usr/bin/env python3
"""Compares predictions of simulate.py with steps of ranks of this machine, with and without added latency.

Measures the profile of one rank beside as many others, which don't communicate, and the times of all_reduce. Both give
the prediction of each measured step. The latency is that of an all_reduce of two numbers. Ranks have one thread and a
core each, or share it with others if there are more ranks than cores. Anything else that runs meanwhile is in the
figures.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from simulate import Cluster, Profile, predict, read_profile  # noqa: E402

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "build/tests/benchmarks/mezzo_scaling"
PLUGIN = ROOT / "build/framework/libmezzo_mpi.so"
RUNS = 3  # of each measurement; the fastest counts


def environment(plugin: Path) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "MEZZO_MPI_PLUGIN": str(plugin), "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun(ranks: int, program: list[str], plugin: Path, cores: list[int]) -> dict:
    pin = f'cores=({" ".join(map(str, cores))}); exec taskset -c ${{cores[OMPI_COMM_WORLD_RANK % {len(cores)}]}} "$@"'
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), "bash", "-c", pin, "-", *program]
    done = subprocess.run(command, env=environment(plugin), check=True, capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout.splitlines()[-1])


def busy_profile(program: list[str], ranks: int, plugin: Path, cores: list[int]) -> Profile:
    """A profile beside as many other processes as there are other ranks, as if a core were its own."""
    lines = []
    for _ in range(RUNS):
        processes = [subprocess.Popen(["taskset", "-c", str(cores[i % len(cores)]), *program], env=environment(plugin),
                                      stdout=subprocess.PIPE, text=True) for i in range(ranks)]
        lines.append(json.loads([process.communicate(timeout=600)[0] for process in processes][0]))
    fastest = min(lines, key=lambda line: line["ms"])
    fastest["ms"] *= min(1.0, len(cores) / ranks)
    return read_profile(json.dumps(fastest))


def measure_network(program: list[str], ranks: int, delays: list[float], plugin: Path, cores: list[int]
                    ) -> dict[float, Cluster]:
    """Clusters for the delays, from the times of all_reduce: of few numbers and of large buckets, by all ranks at once.
    """
    share = min(1.0, len(cores) / ranks)
    times = {}
    for delay in {0.0, *delays}:
        runs = [mpirun(ranks, [*program, "--delay", str(delay)], plugin, cores)["all_reduce"] for _ in range(RUNS)]
        times[delay] = [min(sizes, key=lambda pair: pair[1]) for sizes in zip(*runs)]
    (_, least), (some, middle), (many, most) = times[0.0]
    local = Cluster(nodes=ranks, cores=len(cores), ranks=ranks, message_cpu=least * 1e-3 * share / (ranks - 1),
                    byte_cpu=max(0.0, (most - middle) / (many - some)) * 1e-3 * share,
                    small=1)  # steps without a loop around them have one reduction, of logs
    return {delay: replace(local, latency=max(0.0, times[delay][0][1] - least) * 1e-3) for delay in delays}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default="cnn")
    parser.add_argument("--policy", default="float32")
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--delays", nargs="+", type=float, default=[0, 1, 5], help="milliseconds")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--program", default=str(PROGRAM), help="mezzo_scaling; default: in the build folder")
    parser.add_argument("--plugin", type=Path, default=PLUGIN, help="libmezzo_mpi.so; default: in the build folder")
    parser.add_argument("--most", type=float, default=15, help="percent of difference; default: %(default)s")
    arguments = parser.parse_args()
    if shutil.which("mpirun") is None or not arguments.plugin.exists():
        print("skipped: mpirun and the plug-in mezzo_mpi are needed")
        return 77
    cores = sorted(os.sched_getaffinity(0))
    steps = ["--steps", str(arguments.steps)]
    far = 0
    print("| ranks | added latency | measured | predicted | difference |\n| --- | --- | --- | --- | --- |")
    for ranks in arguments.ranks:
        named = [arguments.workload, arguments.policy, *steps]
        profile = busy_profile([arguments.program, "profile", *named], ranks, arguments.plugin, cores)
        networks = measure_network([arguments.program, "exchanges", *steps], ranks, arguments.delays,
                                   arguments.plugin, cores)
        for delay, cluster in networks.items():
            expected = predict(profile, cluster) * 1e3
            program = [arguments.program, "steps", *named, "--delay", str(delay)]
            measured = min(mpirun(ranks, program, arguments.plugin, cores)["ms"] for _ in range(RUNS))
            difference = 100 * (expected / measured - 1)
            far += abs(difference) > arguments.most
            print(f"| {ranks} | {delay:g} ms | {measured:.2f} ms | {expected:.2f} ms | {difference:+.0f} % |",
                  flush=True)
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
