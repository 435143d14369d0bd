"""Draws number_formats.svg: the bits of each format. python3 docs/images/number_formats.py"""

from pathlib import Path

# Name, bits of exponent and mantissa, and the text beside them. The sign is a bit of its own.
FORMATS = [
    ("float32", 8, 23, ""),
    ("bfloat16", 8, 7, ""),
    ("float16", 5, 10, ""),
    ("E4M3", 4, 3, "float8_e4m3fn, mxfp8_e4m3"),
    ("E5M2", 5, 2, "float8_e5m2, mxfp8_e5m2"),
    ("E3M2", 3, 2, "mxfp6_e3m2"),
    ("E2M3", 2, 3, "mxfp6_e2m3"),
    ("E2M1", 2, 1, "mxfp4_e2m1"),
    ("int8", 0, 7, "an integer times a scale; mxint8"),
    ("int4", 0, 3, "an integer times a scale"),
    ("NF4", 0, 0, "the index of one of 16 numbers, times a scale"),
]
COLORS = {"sign": "#c44e52", "exponent": "#dd8452", "mantissa": "#4c72b0", "index": "#8172b3"}
BIT, ROW, LEFT, TOP = 18, 28, 80, 40


def bits_of(exponent, mantissa):
    if exponent + mantissa == 0:
        return ["index"] * 4
    return ["sign"] + ["exponent"] * exponent + ["mantissa"] * mantissa


def main():
    width, height = LEFT + 32 * BIT + 20, TOP + ROW * len(FORMATS) + 10
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for i, (name, color) in enumerate(COLORS.items()):
        x = LEFT + 110 * i
        out.append(f'<rect x="{x}" y="12" width="14" height="14" fill="{color}"/><text x="{x + 20}" y="24">{name}</text>')
    for row, (name, exponent, mantissa, text) in enumerate(FORMATS):
        y = TOP + ROW * row
        out.append(f'<text x="8" y="{y + 15}">{name}</text>')
        kinds = bits_of(exponent, mantissa)
        for i, kind in enumerate(kinds):
            out.append(
                f'<rect x="{LEFT + BIT * i}" y="{y}" width="{BIT - 2}" height="20" rx="2" fill="{COLORS[kind]}"/>'
            )
        out.append(f'<text x="{LEFT + BIT * len(kinds) + 10}" y="{y + 15}" fill="#555">{text}</text>')
    out.append("</svg>")
    (Path(__file__).parent / "number_formats.svg").write_text("\n".join(out) + "\n")


main()
