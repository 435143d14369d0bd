#!/usr/bin/env python3
"""Times training steps beside other programs that take processors: alone, beside 1 and beside 3 busy loops.

Every round runs every side under every load, in turn, so that a change of the machine affects all alike. Prints the
median over the rounds of the mean duration of a step in ms, and its ratio to the first side alone. The machine must be
idle otherwise.
"""

import argparse
import os
import subprocess
from contextlib import contextmanager
from statistics import median
from typing import Iterator

from sides import PEERS, Side

LOADS = [0, 1, 3]
LOOP = ["sh", "-c", "while :; do :; done"]


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    loops = [subprocess.Popen(LOOP) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def sides_of(program: str, policy: str, torch: str | None) -> list[tuple[Side, bool]]:
    """The sides, the one that the others are compared with first; True for those that use one thread."""
    def mezzo(name: str, environment: dict[str, str]) -> Side:
        return Side(f"mezzo, {name}", (program,), (policy,), environment)

    off = {"MEZZO_YIELD_WHEN_BUSY": "0"}
    sides = [(mezzo("spinning always", off), False),
             (mezzo("default", {}), False),
             (mezzo("adaptive threads", {"MEZZO_ADAPTIVE_THREADS": "1"}), False),
             (mezzo("OMP_WAIT_POLICY=passive", {"OMP_WAIT_POLICY": "passive"}), False),
             (mezzo("one thread", off), True)]
    if torch:
        program_of_torch = (torch, str(PEERS / "torch_peer.py"))
        sides += [(Side(f"torch {config}", program_of_torch, (config,)), False) for config in ("fp32", "bf16")]
    return sides


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/tests/benchmarks/mezzo_bench", help="path of mezzo_bench")
    parser.add_argument("--workload", default="cnn")
    parser.add_argument("--policy", default="mixed_bfloat16")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python with torch, to run its side too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4, help="of each run")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    sides = sides_of(arguments.program, arguments.policy, arguments.torch)
    times: dict[tuple[str, int], list[float]] = {(side.name, load): [] for side, _ in sides for load in LOADS}
    for _ in range(arguments.rounds):
        for load in LOADS:
            for side, one in sides:
                with busy_loops(load):
                    line = side.run(arguments.workload, arguments.seconds, 1 if one else arguments.threads)
                if line is not None:
                    times[side.name, load].append(float(line["mean_ms"]))
    alone = times[sides[0][0].name, 0]
    print(f"{'ms a step (x alone)':32}" + "".join(f"{f'{load} loops':>18}" for load in LOADS))
    for side, _ in sides:
        cells = []
        for load in LOADS:
            found = times[side.name, load]
            cells.append(f"{median(found):.2f} ({median(found) / median(alone):.2f})" if found and alone else "failed")
        print(f"{side.name:32}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
