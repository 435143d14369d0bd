"""Records small JPEG and PNG files, Pillow's decoding of them, and pictures resized by Pillow."""

import base64
import io
import json
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

H, W = 13, 11


def noise(seed, shape):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def smooth(channels):
    """A picture that JPEG represents well: waves and an edge."""
    y, x = np.mgrid[0:H, 0:W]
    planes = [128 + 100 * np.sin(x / (2 + c)) * np.cos(y / (3 - c / 2)) for c in range(channels)]
    picture = np.stack(planes, -1)
    picture[: H // 2, : W // 2] = 255 - picture[: H // 2, : W // 2]
    return picture.astype(np.uint8)


def saved(image, **options):
    out = io.BytesIO()
    image.save(out, **options)
    return out.getvalue()


def png(width, height, depth, color, rows, before_data=b"", interlace=0):
    """A PNG file from packed rows, for formats that Pillow does not write."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before_data + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def deep_rows(channels, seed):
    return [noise(seed + y, W * channels * 2).tobytes() for y in range(H)]


def files():
    rgb = Image.fromarray(smooth(3))
    yield "jpeg 4:2:0", saved(rgb, format="jpeg", quality=90)
    yield "jpeg 4:2:2", saved(rgb, format="jpeg", quality=90, subsampling="4:2:2")
    yield "jpeg 4:4:4", saved(rgb, format="jpeg", quality=75, subsampling="4:4:4")
    yield "jpeg progressive", saved(rgb, format="jpeg", quality=85, progressive=True)
    yield "jpeg gray", saved(Image.fromarray(smooth(1)[..., 0]), format="jpeg")
    yield "jpeg rgb", saved(rgb, format="jpeg", keep_rgb=True)
    yield "jpeg cmyk", saved(Image.fromarray(smooth(4), "CMYK"), format="jpeg", quality=90)
    exif = Image.Exif()
    exif[0x0112] = 6
    yield "jpeg with orientation", saved(rgb, format="jpeg", exif=exif)
    yield "png rgb", saved(Image.fromarray(noise(1, (H, W, 3))), format="png")
    yield "png rgba", saved(Image.fromarray(noise(2, (H, W, 4))), format="png")
    yield "png gray", saved(Image.fromarray(noise(3, (H, W))), format="png")
    yield "png gray alpha", saved(Image.fromarray(noise(4, (H, W, 2)), "LA"), format="png")
    yield "png 1 bit", saved(Image.fromarray(noise(5, (H, W)) > 127), format="png")
    palette = Image.fromarray(noise(6, (H, W)) % 7).convert("L")
    palette = Image.frombytes("P", (W, H), palette.tobytes())
    palette.putpalette(noise(7, 21).tolist())
    yield "png palette", saved(palette, format="png")
    yield "png palette with transparency", saved(palette, format="png", transparency=bytes([0, 100, 255]))
    yield "png gray with transparency", saved(Image.fromarray(noise(8, (H, W))), format="png", transparency=5)
    yield "png 2 bit gray", png(W, H, 2, 0, [noise(20 + y, 3).tobytes() for y in range(H)])
    yield "png 4 bit gray", png(W, H, 4, 0, [noise(40 + y, 6).tobytes() for y in range(H)])
    low = np.random.default_rng(9).integers(0, 600, (H, W)).astype(">u2")
    yield "png 16 bit gray", png(W, H, 16, 0, [row.tobytes() for row in low])
    yield "png 16 bit rgb", png(W, H, 16, 2, deep_rows(3, 60))
    yield "png 16 bit gray alpha", png(W, H, 16, 4, deep_rows(2, 80))
    yield "png 16 bit rgba", png(W, H, 16, 6, deep_rows(4, 100))
    # Only passes 1 and 6 of the seven have pixels in a picture of 2 x 1 pixels.
    yield "png interlaced", png(2, 1, 8, 2, [b"\1\2\3", b"\4\5\6"], interlace=1)


SIZES = [(7, 5), (13, 22), (26, 11), (1, 1), (5, 30), (40, 3), (13, 11), (12, 10)]
METHODS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC,
           "nearest": Image.Resampling.NEAREST}


def main():
    cases = {"decode": {}, "image": noise(11, (H, W, 3)).reshape(-1).tolist(), "shape": [H, W, 3], "resize": []}
    for name, data in files():
        rgb = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
        cases["decode"][name] = {"file": base64.b16encode(data).decode(), "shape": list(rgb.shape),
                                 "pixels": rgb.reshape(-1).tolist()}
    picture = Image.fromarray(np.array(cases["image"], np.uint8).reshape(cases["shape"]))
    for height, width in SIZES:
        for name, method in METHODS.items():
            pixels = np.asarray(picture.resize((width, height), method)).reshape(-1).tolist()
            cases["resize"].append({"height": height, "width": width, "interpolation": name, "pixels": pixels})
    path = Path(__file__).parent / "recorded" / "image.json"
    lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(cases['decode'])} files, {len(cases['resize'])} sizes, {path.stat().st_size} bytes")


main()
