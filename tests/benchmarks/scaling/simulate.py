#!/usr/bin/env python3
"""Predicts training steps on up to 1,000 machines from profiles of one, and prints a table for each network.

A profile is a line of `mezzo_scaling profile`: the kernels of a step in their order, with times, and the weights. The
simulation runs the kernels on the cores of a machine. A bucket of gradients starts when its last gradient is ready and
is sent beside the rest of the backward pass. Sums and copies of messages use cores as kernels do; waiting for the
network uses none. All machines are alike but for stragglers, so one of them, and the slowest draw of all, is enough.

Ways to reduce a bucket of B bytes among N ranks, with the latency L and the bandwidth W:
  direct  mezzo's: each rank sends its parts to all others, sums its own, sends the sums to all: 2 L + 2 B (N - 1) / N W
  ring    2 (N - 1) messages one after the other: 2 (N - 1) (L + B / N W)
  tree    up and down a double binary tree, in a stream: 2 log2(N) L + 2 B / W
"""

import argparse
import json
import math
import random
import statistics
import sys
from dataclasses import dataclass, replace
from pathlib import Path

ALGORITHMS = ("direct", "ring", "tree")
SMALL = 4096  # bytes up to which each rank sends all to all others in one exchange
DRAWS = 40  # steps with stragglers of which a prediction is the mean


@dataclass(frozen=True)
class Gradient:
    ready: int  # index of the row after which it is complete
    elements: int


@dataclass(frozen=True)
class Profile:
    """A step of one rank; times are seconds."""
    workload: str
    threads: int
    items: int
    backward: tuple[float, ...]  # rows up to the end of the backward pass
    updates: float  # all rows behind it
    gradients: tuple[Gradient, ...]  # in the order in which they are ready
    copy_in: float  # per element: into a bucket
    copy_out: float  # per element: out of it


@dataclass(frozen=True)
class Cluster:
    nodes: int = 1  # ranks, all on machines of their own unless `ranks` says otherwise
    cores: int = 1  # of a machine
    ranks: int = 1  # on a machine
    algorithm: str = "direct"
    latency: float = 0  # seconds
    bandwidth: float = math.inf  # bytes a second
    message_cpu: float = 0  # seconds of a core for a message
    byte_cpu: float = 0  # seconds of a core for a byte of a bucket: copies and sums
    wire_bytes: int = 4  # of an element
    bucket: int = 1 << 20  # elements; a bucket is complete when it has as many or more
    small: int = 2  # reductions of a few numbers at the end of a step: logs, agreement
    straggling: float = 0  # standard deviation of the logarithm of a rank's compute time


def read_profile(text: str) -> Profile:
    """Reads a line of mezzo_scaling profile. Times of rows are scaled to that of the steps."""
    line = json.loads(text)
    scale = line["ms"] / sum(ms for _, _, ms in line["rows"])
    rows = [(op, layer, ms * scale) for op, layer, ms in line["rows"]]
    ends = [i for i, (op, _, _) in enumerate(rows) if op == "finish_all_reduce"]
    if not ends:
        raise ValueError("a profile must have a row finish_all_reduce; got none: was it made by mezzo_scaling?")
    end = ends[0]
    elements = sum(count for _, count in line["weights"])
    copies = {name: sum(ms for op, _, ms in rows if op == name) * 1e-3 / elements
              for name in ("start_all_reduce", "finish_all_reduce")}
    backward = [0.0 if op == "start_all_reduce" else ms * 1e-3 for op, _, ms in rows[:end]]
    last = {layer: i for i, (op, layer, _) in enumerate(rows[:end]) if op != "start_all_reduce"}
    gradients = [Gradient(last.get(path.rpartition("/")[0], end - 1), count) for path, count in line["weights"]]
    return Profile(workload=line["workload"], threads=line["threads"], items=line["items"], backward=tuple(backward),
                   updates=sum(ms for op, _, ms in rows[end:] if op != "finish_all_reduce") * 1e-3,
                   gradients=tuple(sorted(gradients, key=lambda one: one.ready)),
                   copy_in=copies["start_all_reduce"], copy_out=copies["finish_all_reduce"])


def buckets_of(profile: Profile, size: int) -> list[tuple[int, int]]:
    """Row after which a bucket starts, and its elements."""
    out, elements = [], 0
    for i, gradient in enumerate(profile.gradients):
        elements += gradient.elements
        if elements >= size or i + 1 == len(profile.gradients):
            out.append((gradient.ready, elements))
            elements = 0
    return out


def phases(size: int, cluster: Cluster) -> list[tuple[bool, float]]:
    """Parts of the reduction of `size` bytes: True for work of a core, and the seconds."""
    n, network = cluster.nodes, cluster.bandwidth
    if n == 1:
        return []
    if cluster.algorithm == "direct" and size <= SMALL:
        return [(True, (n - 1) * cluster.message_cpu + size * cluster.byte_cpu),
                (False, cluster.latency + (n - 1) * size / network)]
    if cluster.algorithm == "direct":
        exchange = [(True, (n - 1) * cluster.message_cpu + size * cluster.byte_cpu / 2),
                    (False, cluster.latency + size * (n - 1) / n / network)]
        return 2 * exchange
    if cluster.algorithm == "ring":
        messages, wire = 2 * (n - 1), 2 * (n - 1) * (cluster.latency + size / n / network)
    else:
        messages = 2 * math.ceil(math.log2(n))
        wire = messages * cluster.latency + 2 * size / network
    return [(True, messages * cluster.message_cpu + size * cluster.byte_cpu), (False, wire)]


def run_step(profile: Profile, cluster: Cluster, slowness: float = 1) -> float:
    """Seconds of a step in which the computation of the slowest rank takes `slowness` times as long."""
    buckets = buckets_of(profile, cluster.bucket)
    elements = sum(size for _, size in buckets)
    work: list[tuple[str, float]] = []  # of the computing threads: ("compute", s), ("start" or "wait", bucket)
    for row, seconds in enumerate(profile.backward):
        work.append(("compute", seconds * slowness))
        for i, (ready, size) in enumerate(buckets):
            if ready == row:
                work += [("compute", size * profile.copy_in * slowness), ("start", i)]
    for i, (_, size) in enumerate(buckets):
        update = profile.updates * size / elements + size * profile.copy_out
        work += [("wait", i), ("compute", update * slowness)]
    messages = [phases(size * cluster.wire_bytes, cluster) for _, size in buckets]
    for i in range(cluster.small):
        messages.append(phases(64, cluster))
        work += [("start", len(buckets) + i), ("wait", len(buckets) + i)]
    return run_beside(work, messages, profile.threads, cluster.cores / cluster.ranks)


def run_beside(work: list[tuple[str, float]], messages: list[list[tuple[bool, float]]], threads: int,
               cores: float) -> float:
    """Runs `work` beside the messages that it starts, one after the other, and returns when the work is done. Both
    share the cores of the rank: if they want more than there are, each gets the same part of what it wants."""
    now, place, left = 0.0, 0, -1.0  # place in the work; seconds left of that computation, -1: not begun
    under_way: list[tuple[int, list[tuple[bool, float]]]] = []
    done: set[int] = set()
    while True:
        while place < len(work):  # what takes no time
            kind, argument = work[place]
            if kind == "start":
                under_way.append((int(argument), list(messages[int(argument)])))
            elif kind == "compute" and left < 0:
                left = argument
            if (kind == "wait" and argument not in done) or (kind == "compute" and left > 0):
                break
            place, left = place + 1, -1.0
            while under_way and not under_way[0][1]:
                done.add(under_way.pop(0)[0])
        if place == len(work):
            return now
        computes = work[place][0] == "compute"
        on_core, seconds = under_way[0][1][0] if under_way else (False, math.inf)
        wanted = threads * computes + on_core
        speed = min(1.0, cores / wanted) if wanted else 1.0
        own = left / speed if computes else math.inf
        others = seconds / speed if on_core else seconds
        step = min(own, others)
        now += step
        if computes:
            left = 0.0 if own <= others else left - step * speed
        if under_way:
            rest = seconds - step * (speed if on_core else 1)
            if others <= own or rest <= 0:
                under_way[0][1].pop(0)
            else:
                under_way[0][1][0] = (on_core, rest)
            while under_way and not under_way[0][1]:
                done.add(under_way.pop(0)[0])


def predict(profile: Profile, cluster: Cluster) -> float:
    """Mean seconds of a step."""
    if cluster.straggling == 0:
        return run_step(profile, cluster)
    draws = random.Random(0)
    normal = statistics.NormalDist()
    times = []
    for _ in range(DRAWS):
        slowest = normal.inv_cdf(max(draws.random(), 1e-12) ** (1 / cluster.nodes))  # of so many normal numbers
        times.append(run_step(profile, cluster, math.exp(cluster.straggling * slowest)))
    return statistics.mean(times)


def table(profiles: list[Profile], cluster: Cluster, gbits: list[float], algorithms: list[str],
          nodes: list[int]) -> list[list[str]]:
    """Head and rows: a step of one machine, then the efficiency, its time by that of so many machines."""
    out = [["workload", "Gb/s", "all-reduce", "1 machine", *(f"{count:,}" for count in nodes)]]
    for profile in profiles:
        alone = predict(profile, replace(cluster, nodes=1))
        for speed in gbits:
            for algorithm in algorithms:
                row = [profile.workload, f"{speed:g}", algorithm, f"{alone * 1e3:.0f} ms"]
                for count in nodes:
                    there = replace(cluster, nodes=count, algorithm=algorithm, bandwidth=speed * 1e9 / 8)
                    row.append(f"{100 * alone / predict(profile, there):.0f} %")
                out.append(row)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="+", help="files of mezzo_scaling profile")
    parser.add_argument("--nodes", nargs="+", type=int, default=[2, 4, 16, 64, 256, 1000])
    parser.add_argument("--gbits", nargs="+", type=float, default=[10, 25, 100, 200])
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    parser.add_argument("--cores", type=int, default=2, help="of a machine; default: %(default)s")
    parser.add_argument("--latency", type=float, default=20, help="microseconds; default: %(default)s")
    parser.add_argument("--message-cpu", type=float, default=2, help="microseconds of a core; default: %(default)s")
    parser.add_argument("--byte-cpu", type=float, default=0.5, help="nanoseconds of a core; default: %(default)s")
    parser.add_argument("--bucket", type=int, default=1 << 20, help="elements; default: %(default)s")
    parser.add_argument("--wire-bytes", type=int, default=4, help="of an element; default: %(default)s")
    parser.add_argument("--straggling", type=float, default=0.02,
                        help="standard deviation of a rank's compute time, as a share of it; default: %(default)s")
    arguments = parser.parse_args()
    cluster = Cluster(cores=arguments.cores, latency=arguments.latency * 1e-6,
                      message_cpu=arguments.message_cpu * 1e-6, byte_cpu=arguments.byte_cpu * 1e-9,
                      bucket=arguments.bucket, wire_bytes=arguments.wire_bytes, straggling=arguments.straggling)
    profiles = [read_profile(Path(path).read_text(encoding="utf-8")) for path in arguments.profiles]
    head, *rows = table(profiles, cluster, arguments.gbits, arguments.algorithms, arguments.nodes)
    for row in [head, ["---"] * len(head), *rows]:
        print(f"| {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
