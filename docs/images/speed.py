"""Draws speed.svg and memory.svg from the records of docs/benchmarks. python3 docs/images/speed.py

speed.svg: samples per second relative to the fastest configuration of PyTorch in float32, for each workload.
memory.svg: peak resident memory of the process in MiB, of the same configurations.
"""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs/benchmarks/amd-25-17-avx512_bf16.json"
WIDTH, LEFT, BAR, GAP = 760, 150, 13, 12
COLORS = {"torch float32": "#9a9a9a", "torch, fastest": "#c8a27a", "mezzo float32": "#4c72b0", "mezzo mixed_bfloat16": "#c44e52"}


def speeds(sides):
    by_policy = {side["policy"]: side for side in sides}
    full, mixed = by_policy["float32"], by_policy["mixed_bfloat16"]
    base = full["per_s"] / full["ratio"][0]  # the ratio is the median over rounds
    fastest = mixed["per_s"] / mixed["ratio"][0]
    return {"torch float32": 1.0, "torch, fastest": fastest / base, "mezzo float32": full["ratio"][0],
            "mezzo mixed_bfloat16": mixed["per_s"] / base}


def memory(sides):
    by_policy = {side["policy"]: side for side in sides}
    full, mixed = by_policy["float32"], by_policy["mixed_bfloat16"]
    return {"torch float32": full["peer"]["rss_mib"], "torch, fastest": mixed["peer"]["rss_mib"],
            "mezzo float32": full["rss_mib"], "mezzo mixed_bfloat16": mixed["rss_mib"]}


def chart(title, values, text):
    """One group of bars for each workload."""
    most = max(max(group.values()) for group in values.values())
    scale = (WIDTH - LEFT - 80) / most
    y, out = 56, [f'<text x="8" y="20" font-weight="bold">{title}</text>']
    for i, (name, color) in enumerate(COLORS.items()):
        x = 8 + 180 * i
        out.append(f'<rect x="{x}" y="31" width="12" height="12" fill="{color}"/><text x="{x + 18}" y="42">{name}</text>')
    for workload, group in values.items():
        middle = y + len(group) * BAR / 2 + 4
        out.append(f'<text x="{LEFT - 8}" y="{middle:.1f}" text-anchor="end">{workload}</text>')
        for name, value in group.items():
            out.append(f'<rect x="{LEFT}" y="{y}" width="{value * scale:.1f}" height="{BAR - 1}" fill="{COLORS[name]}"/>')
            out.append(f'<text x="{LEFT + value * scale + 5:.1f}" y="{y + 10}" font-size="11">{text(value)}</text>')
            y += BAR
        y += GAP
    body = "\n".join(out)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" font-size="13">\n'
            f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>\n{body}\n</svg>\n')


def main():
    workloads = json.loads(RECORD.read_text(encoding="utf-8"))["workloads"]
    folder = Path(__file__).parent
    (folder / "speed.svg").write_text(chart(
        "Training, samples per second relative to PyTorch 2.8 in float32 (Zen 4, 2 threads)",
        {name: speeds(w["sides"]) for name, w in workloads.items()}, "{:.2f}".format), encoding="utf-8")
    (folder / "memory.svg").write_text(chart(
        "Peak resident memory of the training process, MiB (Zen 4, 2 threads)",
        {name: memory(w["sides"]) for name, w in workloads.items()}, "{:,.0f}".format), encoding="utf-8")


if __name__ == "__main__":
    main()
