"""Draws fewer_bits.svg from docs/benchmarks/fewer_bits.jsonl. python3 docs/images/fewer_bits.py

For each task and configuration: the difference to its base, a small dot for each seed and a large one for the mean; and
the bytes of the weights as a bar.
"""

import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "benchmarks"))

from fewer_bits import TASKS, base_of, differences, runs  # noqa: E402

WIDTH, LEFT, MIDDLE, BARS, ROW = 760, 180, 380, 590, 22
RANGE, SCALE = 3.0, 60  # points on each side of 0; pixels a point


def row(y, config, gaps, share):
    out = [f'<text x="8" y="{y + 15}">{config}</text>']
    for gap in gaps:
        x = MIDDLE + SCALE * max(-RANGE, min(RANGE, gap))
        out.append(f'<circle cx="{x:.1f}" cy="{y + 10}" r="2.5" fill="#4c72b0" fill-opacity="0.45"/>')
    if gaps:
        x = MIDDLE + SCALE * max(-RANGE, min(RANGE, statistics.mean(gaps)))
        out.append(f'<circle cx="{x:.1f}" cy="{y + 10}" r="5" fill="#c44e52"/>')
    out.append(f'<rect x="{BARS}" y="{y + 3}" width="{120 * share:.1f}" height="14" fill="#dd8452"/>')
    out.append(f'<text x="{BARS + 120 * share + 5:.1f}" y="{y + 15}" fill="#555">{100 * share:.0f} %</text>')
    return out


def panel(y, task):
    known, out = runs(ROOT, task), []
    unit = "% of the loss" if task == "gpt" else "points"
    out.append(f'<text x="8" y="{y + 15}" font-weight="bold">{TASKS[task]}</text>')
    out.append(f'<text x="{BARS}" y="{y + 15}" fill="#555">bytes of weights</text>')
    y += ROW
    floats = max(float(line["weights_kib"]) for by_seed in known.values() for line in by_seed.values())
    rows = [config for config in known]
    bottom = y + ROW * len(rows)
    for tick in range(-int(RANGE), int(RANGE) + 1):
        x = MIDDLE + SCALE * tick
        color = "#888" if tick == 0 else "#ddd"
        out.append(f'<line x1="{x}" y1="{y}" x2="{x}" y2="{bottom}" stroke="{color}"/>')
        out.append(f'<text x="{x}" y="{bottom + 13}" text-anchor="middle" font-size="11" fill="#555">{tick:+d}</text>')
    out.append(f'<text x="{MIDDLE + SCALE * RANGE + 6}" y="{bottom + 13}" font-size="11" fill="#555">{unit}</text>')
    for config in rows:
        base = base_of(task, config, known)
        share = float(next(iter(known[config].values()))["weights_kib"]) / floats
        out += row(y, config, differences(known, config, base) if base else [], min(share, 1))
        y += ROW
    return y + 28, out


def main():
    y, body = 8, []
    for task in TASKS:
        if runs(ROOT, task):
            y, part = panel(y, task)
            body += part
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{y}" fill="white"/>',
    ]
    (Path(__file__).parent / "fewer_bits.svg").write_text("\n".join([*head, *body, "</svg>"]) + "\n")


main()
