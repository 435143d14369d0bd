"""Charts with logarithmic axes as SVG, readable on light and dark pages."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 340, 250, 52, 30, 14, 40
STYLE = """<style>
text { font: 12px sans-serif; fill: #24292f } .title { font-weight: bold } .small { font-size: 11px; fill: #57606a }
.grid { stroke: #d0d7de } .guide { stroke: #8c959f; stroke-dasharray: 4 4 } polyline { fill: none; stroke-width: 2 }
.a { stroke: #0969da; fill: #0969da } .b { stroke: #bc4c00; fill: #bc4c00 }
.c { stroke: #1a7f37; fill: #1a7f37 } .d { stroke: #8250df; fill: #8250df } polyline.a, polyline.b, polyline.c,
polyline.d { fill: none } @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 }
.grid { stroke: #3d444d } .guide { stroke: #656c76 } .a { stroke: #4493f8; fill: #4493f8 }
.b { stroke: #f0883e; fill: #f0883e } .c { stroke: #3fb950; fill: #3fb950 } .d { stroke: #ab7df8; fill: #ab7df8 } }
</style>"""
COLORS = "abcd"
Points = list[tuple[float, float]]


def powers(low: float, high: float) -> list[float]:
    """Powers of ten for the marks of an axis that covers [low, high]; of two if fewer than two lie in it."""
    for base in (10, 2):
        first, last = math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9)
        if base == 10 and last - first < 2:
            continue
        step = max(1, math.ceil((last - first) / 6))
        return [float(base) ** i for i in range(first, last + step, step)]
    raise AssertionError


def text_of(number: float) -> str:
    return f"{number:g}" if number < 1e5 else f"{number:.0e}"


def panel(title: str, label: str, lines: dict[str, Points], exponents: dict[str, float], colors: dict[str, str],
          at: float) -> list[str]:
    """One chart. A dashed line beside each curve grows as the exponent says, from the curve's last point back."""
    xs = [x for points in lines.values() for x, _ in points]
    ys = [y for points in lines.values() for _, y in points]
    marks = powers(min(ys), max(ys))
    low, high = min(marks[0], min(ys)), max(marks[-1], max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        across = math.log(x / min(xs)) / math.log(max(xs) / min(xs))
        up = math.log(y / low) / math.log(high / low)
        return (round(at + LEFT + across * (WIDTH - LEFT - RIGHT), 1),
                round(TOP + (1 - up) * (HEIGHT - TOP - BOTTOM), 1))

    out = [f'<text class="title" x="{at + LEFT}" y="18">{escape(title)}</text>']
    for mark in marks:
        (left, y), (right, _) = place(min(xs), mark), place(max(xs), mark)
        out.append(f'<line class="grid" x1="{left}" y1="{y}" x2="{right}" y2="{y}"/>')
        out.append(f'<text class="small" x="{left - 6}" y="{y + 4}" text-anchor="end">{text_of(mark)}</text>')
    for x in sorted(set(xs)):
        out.append(f'<text class="small" x="{place(x, low)[0]}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
                   f"{text_of(x)}</text>")
    out.append(f'<text class="small" x="{at + (LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
               f"{escape(label)}</text>")
    for name, points in lines.items():
        color = colors[name]
        x, y = points[-1]
        before = max(points[0][0], x * (low / y) ** (1 / exponents[name]))
        (x1, y1), (x2, y2) = place(before, y * (before / x) ** exponents[name]), place(x, y)
        out.append(f'<line class="guide" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
        placed = [place(*point) for point in points]
        joined = " ".join(f"{x},{y}" for x, y in placed)
        out.append(f'<polyline class="{color}" points="{joined}"/>')
        out += [f'<circle class="{color}" cx="{x}" cy="{y}" r="2.5"/>' for x, y in placed]
    return out


def chart(label: str, panels: list[tuple[str, dict[str, Points], dict[str, float]]], names: list[str]) -> str:
    """An SVG of panels (title, curves by name, exponents of their dashed lines) side by side, and a legend below. The
    colors of the curves are those of their places in `names`."""
    colors = dict(zip(names, COLORS))
    width, height = WIDTH * len(panels), HEIGHT + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}" role="img">', STYLE]
    for i, (title, lines, exponents) in enumerate(panels):
        out += panel(title, label, lines, exponents, colors, WIDTH * i)
    for i, name in enumerate(panels[0][1]):
        x = LEFT + i * (width - LEFT) / len(panels[0][1])
        out.append(f'<rect class="{colors[name]}" x="{x}" y="{HEIGHT + 5}" width="14" height="4"/>')
        out.append(f'<text class="small" x="{x + 20}" y="{HEIGHT + 12}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>", ""])
