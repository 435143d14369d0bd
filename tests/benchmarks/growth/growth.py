#!/usr/bin/env python3
"""Time and memory of a training step against batch, depth, width and length, as lines of JSON and as charts.

Runs mezzo_growth for each size, or reads the lines of an earlier run (--lines). Writes growth.jsonl and one SVG for
each axis into the folder --out. Prints how each quantity grows over the largest sizes, as the exponent of the size, and
exits with 1 if one grows faster than its work: that of the weights with the square of the width, that of attention with
the square of the length, otherwise with the size.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

from plot import Points, chart

Line = dict[str, str | float]
SIZES = {"batch": [1, 2, 4, 8, 16, 32, 64, 128, 256], "depth": [4, 8, 16, 32, 64],
         "width": [64, 128, 256, 512, 1024, 2048, 4096], "length": [64, 128, 256, 512, 1024, 2048]}
TINY = {"batch": [1, 4], "depth": [1, 2], "width": [8, 16], "length": [4, 8]}
BASE = {"mlp": {"batch": 64, "depth": 4, "width": 256, "length": 1},
        "gpt": {"batch": 4, "depth": 4, "width": 128, "length": 128}}
DEPTH_OF_WIDTH = {"mlp": 4, "gpt": 1}  # of the runs against width: 4 layers of GPT with a width of 4,096 need 13 GB
QUANTITIES = {"ms": "time of a step (ms)", "mib": "weights, states, step (MiB)"}
# Exponents above 1: of the work by width, and of attention's by length.
EXPONENTS = {("width", "ms"): 2.0, ("width", "mib"): 2.0, ("length", "ms"): 2.0}
TOLERANCE = {"ms": 0.3, "mib": 0.1}  # time: weights and their states outgrow the caches; and noise
POLICIES = ["float32", "mixed_bfloat16"]
NAMES = [f"{model} {policy}" for model in BASE for policy in POLICIES]


def runs(axis: str, sizes: list[int]) -> list[tuple[str, dict[str, int]]]:
    """Model and sizes of each run along an axis. A dense layer has no length."""
    out = []
    for model in ["gpt"] if axis == "length" else ["mlp", "gpt"]:
        for size in sizes:
            depth = {"depth": DEPTH_OF_WIDTH[model]} if axis == "width" else {}
            out.append((model, {**BASE[model], **depth, axis: size}))
    return out


def measured(program: str, axis: str, model: str, policy: str, sizes: dict[str, int], seconds: float) -> Line:
    command = [program, model, policy, "--seconds", str(seconds)]
    for name, size in sizes.items():
        command += [f"--{name}", str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    line = json.loads(done.stdout.splitlines()[-1])
    return {"axis": axis, **line, "mib": round(line["arena_mib"] + line["weights_mib"], 4)}


def curves(lines: list[Line], axis: str, quantity: str) -> dict[str, Points]:
    """Points (size, quantity) in ascending order, by "model policy"."""
    out: dict[str, Points] = {}
    for line in lines:
        if line["axis"] == axis:
            out.setdefault(f"{line['model']} {line['policy']}", []).append((line[axis], line[quantity]))
    return {name: sorted(points) for name, points in out.items()}


def slope(points: Points) -> float:
    """The exponent k of the least-squares fit y = c x^k."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    return (sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs))


def findings(lines: list[Line]) -> tuple[list[str], list[str]]:
    """A line for each curve with its exponent over the last three sizes; those that grow too fast."""
    shown, fast = [], []
    for axis in SIZES:
        for quantity in QUANTITIES:
            for name, points in curves(lines, axis, quantity).items():
                bound = EXPONENTS.get((axis, quantity), 1.0)
                found = slope(points[-3:])
                shown.append(f"{axis:7}{quantity:4}{name:20} exponent {found:5.2f} of at most {bound:g}")
                if found > bound + TOLERANCE[quantity]:
                    fast.append(shown[-1])
    return shown, fast


def draw(lines: list[Line], folder: Path) -> list[Path]:
    """Writes growth_<axis>.svg for each axis that was measured."""
    out = []
    for axis in SIZES:
        panels = []
        for quantity, title in QUANTITIES.items():
            found = curves(lines, axis, quantity)
            exponent = EXPONENTS.get((axis, quantity), 1.0)
            panels.append((title, found, {name: exponent for name in found}))
        if panels[0][1]:
            out.append(folder / f"growth_{axis}.svg")
            out[-1].write_text(chart(axis, panels, NAMES))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/tests/benchmarks/mezzo_growth", help="path of mezzo_growth")
    parser.add_argument("--lines", type=Path, help="draws the lines of this file instead of running")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run's timed steps; at least 5 steps")
    parser.add_argument("--axes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--tiny", action="store_true", help="small sizes, and no judgement: checks that all runs")
    arguments = parser.parse_args()
    lines: list[Line] = []
    if arguments.lines:
        lines = [json.loads(line) for line in arguments.lines.read_text().splitlines()]
    else:
        for axis in arguments.axes:
            for model, sizes in runs(axis, (TINY if arguments.tiny else SIZES)[axis]):
                for policy in POLICIES:
                    lines.append(measured(arguments.program, axis, model, policy, sizes, arguments.seconds))
                    print(json.dumps(lines[-1]), flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "growth.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw(lines, arguments.out)
    shown, fast = findings(lines)
    print("\n".join(shown))
    if fast and not arguments.tiny:
        print("faster than the work:", *fast, sep="\n", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
