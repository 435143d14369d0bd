#!/usr/bin/env python3
"""Runs workloads through mezzo and its peers, interleaved, and prints their ratios.

A round runs each side once, so that other load on the machine affects all of them. Ratios are taken within a round.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

import records
from sides import POLICIES, Line, Side, build_roofline, mezzo_sides, peer_sides, problems, run_roofline

# Workloads that have a roofline.
BOUNDED = ["mlp", "cnn", "resnet18", "minilm", "gptchar", "resnet50", "bert", "gpt2", "lstm", "gru"]
WORKLOADS = [*BOUNDED, "mlp_wide", "mobilenet_v2", "efficientnet_b0"]
ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build/tests/benchmarks/mezzo_bench"
Runs = dict[str, list[Line | None]]  # by the side's name, one line for each round


def numbers(lines: list[Line | None], name: str) -> list[float]:
    return [float(line[name]) for line in lines if line]


def median(lines: list[Line | None], name: str) -> float:
    return statistics.median(numbers(lines, name))


def fastest(runs: Runs, sides: list[Side], by: str = "per_s") -> str | None:
    """The side with the best median over the rounds."""
    ran = [side.name for side in sides if any(runs[side.name])]
    return max(ran, key=lambda name: median(runs[name], by), default=None)


def ratios(runs: Runs, name: str, other: str, by: str = "per_s") -> list[float]:
    """Ratios of a side to another, one for each round in which both ran."""
    pairs = [(a, b) for a, b in zip(runs[name], runs[other]) if a and b]
    return [float(a[by]) / float(b[by]) for a, b in pairs]


def promising(sides: list[Side], workload: str, arguments: argparse.Namespace) -> list[Side]:
    """The fastest sides in one short run; with --record also the fastest in float32."""
    speed = {}
    for side in sides:
        line = side.run(workload, min(1.0, arguments.seconds), arguments.threads)
        if line is None:
            print(f"{side.name} fails", file=sys.stderr)
        else:
            speed[side.name] = float(line["best"])
    ranked = sorted(speed, key=lambda name: -speed[name])
    kept = ranked[:arguments.keep]
    if arguments.record:  # which compares float32 with float32
        kept += [name for name in ranked if records.is_float32(name)][:1]
    return [side for side in sides if side.name in kept]


def run_rounds(sides: list[Side], workload: str, roofline: str | None, arguments: argparse.Namespace
               ) -> tuple[Runs, float]:
    """Runs every side in every round. The roofline is the best of the rounds, since it is a bound."""
    runs: Runs = {side.name: [] for side in sides}
    bound = 0.0
    for _ in range(arguments.rounds):
        if roofline:
            bound = max(bound, run_roofline(roofline, workload, arguments.threads))
        for side in sides:
            line = side.run(workload, arguments.seconds, arguments.threads)
            runs[side.name].append(line)
            if arguments.out and line:
                with open(arguments.out, "a", encoding="utf-8") as out:
                    print(json.dumps(line), file=out)
    return runs, bound


def table(runs: Runs, peer: str | None, bound: float, by: str = "per_s") -> list[str]:
    """Medians of each side; `x peer` is the ratio to the best peer, with the least and the greatest of the rounds."""
    speed_title = by.replace("_", " ")
    lines = [f"{'':26} {speed_title:>10} {'x peer':>8} {'min-max':>13} {'roofline':>9} {'first s':>8} {'MiB':>6}"]
    for name, measured in runs.items():
        if not any(measured):
            lines.append(f"{name:26} fails")
            continue
        speed = median(measured, by)
        found = ratios(runs, name, peer, by) if peer else []
        ratio = f"{statistics.median(found):8.2f} {min(found):6.2f}-{max(found):<6.2f}" if found else f"{'':22}"
        share = f"{100 * speed / bound:7.0f} %" if bound else f"{'':9}"
        lines.append(f"{name:26} {speed:10,.1f} {ratio} {share} {median(measured, 'first_s'):8.2f} "
                     f"{max(numbers(measured, 'rss_mib')):6.0f}")
    return lines


def compare(workload: str, roofline: str | None, arguments: argparse.Namespace) -> None:
    mine = mezzo_sides(arguments.program, arguments.policies)
    peers = promising(peer_sides(arguments.torch, arguments.keras), workload, arguments)
    runs, bound = run_rounds(mine + peers, workload, roofline, arguments)
    print(f"\n{workload}, {arguments.rounds} rounds of {arguments.seconds:g} s, {arguments.threads} threads"
          + (f"; roofline {bound:,.1f} per s" if bound else ""))
    print("\n".join(table(runs, fastest(runs, peers, arguments.by), bound, arguments.by)), flush=True)
    if arguments.record:
        record = records.workload_record(runs, bound, arguments.rounds, arguments.seconds)
        records.keep(ROOT, workload, record, arguments.threads, Path("/proc/cpuinfo").read_text(encoding="utf-8"))


def check(arguments: argparse.Namespace) -> int:
    """Checks in one short run of each workload and policy that mezzo's lines are complete."""
    failures = 0
    for workload in arguments.workloads:
        for side, policy in zip(mezzo_sides(arguments.program, arguments.policies), arguments.policies):
            found = problems(side.run(workload, 0, arguments.threads), workload, policy)
            print(f"{workload} {policy}: {'; '.join(found) or 'good'}")
            failures += bool(found)
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", default=WORKLOADS, help="default: %(default)s")
    parser.add_argument("--program", default=str(BUILT), help="mezzo_bench; default: in the build folder")
    parser.add_argument("--policies", nargs="+", default=POLICIES, help="policies of mezzo; default: %(default)s")
    parser.add_argument("--torch", metavar="PYTHON", help="Python with torch")
    parser.add_argument("--keras", metavar="PYTHON", help="Python with Keras; KERAS_BACKEND is its backend")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="duration of each run; default: %(default)s")
    parser.add_argument("--by", choices=["per_s", "best"], default="per_s",
                        help="speed of a run: by its median step, or by its fastest on a machine with other users")
    parser.add_argument("--keep", type=int, default=2, help="peer configurations kept after one short run of each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--no-roofline", action="store_true")
    parser.add_argument("--out", help="file to append every line of JSON to")
    parser.add_argument("--record", action="store_true",
                        help=f"keep the results in {records.FOLDER}; generate_docs.py makes tables of them")
    parser.add_argument("--check", action="store_true", help="run mezzo alone for few steps and check its lines")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments)
    with tempfile.TemporaryDirectory() as folder:
        roofline = None if arguments.no_roofline else build_roofline(folder)
        for workload in arguments.workloads:
            compare(workload, roofline if workload in BOUNDED else None, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
