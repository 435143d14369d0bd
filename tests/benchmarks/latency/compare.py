#!/usr/bin/env python3
"""Runs mezzo_latency, ONNX Runtime and PyTorch in turn on the same weights, and prints a table of medians.

A round runs each side once, so that other load on the machine affects all of them. Ratios are taken within a round.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1]
PEER = str(BENCHMARKS / "peers/latency_peer.py")
PROGRAM = BENCHMARKS.parents[1] / "build/tests/benchmarks/mezzo_latency"
WORKLOADS = ["mlp", "gptchar", "mobilenet_v2", "resnet18", "minilm"]
Line = dict[str, float]


@dataclass(frozen=True)
class Side:
    name: str
    command: tuple[str, ...]  # the workload and the config follow in `arguments`
    arguments: tuple[str, ...]

    def run(self, case: list[str], threads: int) -> Line | None:
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        done = subprocess.run([*self.command, *self.arguments, *case], env=environment, capture_output=True, text=True,
                              check=False)
        try:
            return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
        except (IndexError, json.JSONDecodeError):
            return None


def sides_of(workload: str, folder: str, arguments: argparse.Namespace) -> list[Side]:
    sides = [Side(f"mezzo {policy}", (arguments.program,), (workload, policy)) for policy in arguments.policies]
    if arguments.onnx:
        path = f"{folder}/{workload}.onnx"
        subprocess.run([arguments.program, workload, "float32", "--batch", "8", "--export", path], check=True)
        sides.append(Side("onnxruntime", (arguments.onnx, PEER), (workload, "onnxruntime", "--file", path)))
    if arguments.torch:
        sides += [Side(f"torch {config}", (arguments.torch, PEER), (workload, config)) for config in arguments.configs]
    return sides


def median_ratio(lines: list[Line | None], others: list[Line | None], name: str) -> str:
    ratios = [one[name] / other[name] for one, other in zip(lines, others) if one and other]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})" if ratios else "-"


def compare(workload: str, sides: list[Side], batch: int, callers: int, arguments: argparse.Namespace) -> None:
    case = ["--batch", str(batch), "--callers", str(callers), "--threads", str(arguments.threads),
            "--seconds", str(arguments.seconds)]
    runs: dict[str, list[Line | None]] = {side.name: [] for side in sides}
    for _ in range(arguments.rounds):
        for side in sides:
            runs[side.name].append(side.run(case, arguments.threads))
    peer = runs.get("onnxruntime", [])
    for name, lines in runs.items():
        found = [line for line in lines if line]
        if not found:
            print(f"| {workload} | {batch} | {callers} | {name} | fails | | | |")
            continue
        middle = {key: statistics.median(line[key] for line in found) for key in ("p50_ms", "p99_ms", "per_s")}
        print(f"| {workload} | {batch} | {callers} | {name} | {middle['p50_ms']:.3f} | {middle['p99_ms']:.3f} | "
              f"{middle['per_s']:,.1f} | {median_ratio(lines, peer, 'p50_ms')} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=WORKLOADS, help="default: %(default)s")
    parser.add_argument("--program", default=str(PROGRAM), help="mezzo_latency; default: in the build folder")
    parser.add_argument("--policies", nargs="+", default=["float32", "mixed_bfloat16"])
    parser.add_argument("--onnx", metavar="PYTHON", help="Python with onnxruntime")
    parser.add_argument("--torch", metavar="PYTHON", help="Python with torch")
    parser.add_argument("--configs", nargs="+", default=["fp32+compile", "bf16+compile"], help="of torch")
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--callers", nargs="+", type=int, default=[1])
    parser.add_argument("--threads", type=int, default=1, help="threads of each caller")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()
    print(f"{arguments.rounds} rounds of {arguments.seconds:g} s, {arguments.threads} threads a caller\n")
    print("| workload | batch | callers | side | p50 ms | p99 ms | samples/s | p50 / ONNX Runtime |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for workload in arguments.workloads:
            sides = sides_of(workload, folder, arguments)
            for batch in arguments.batches:
                for callers in arguments.callers:
                    compare(workload, sides, batch, callers, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
