"""Records small picture files, Pillow's decoding of them, and pictures resized by Pillow."""

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


def bmp(width, height, bits, pixels, form=0, palette=b"", masks=b"", core=False):
    """A BMP file from packed rows or runs, for forms that Pillow does not write."""
    if core:
        header = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, form, len(pixels), 0, 0, len(palette) // 4, 0)
    start = 14 + len(header) + len(masks) + len(palette)
    return struct.pack("<2sIHHI", b"BM", start + len(pixels), 0, 0, start) + header + masks + palette + pixels


def bmp_files():
    rgb = Image.fromarray(noise(200, (H, W, 3)))
    yield "bmp rgb", saved(rgb, format="bmp")
    yield "bmp rgba", saved(Image.fromarray(noise(201, (H, W, 4))), format="bmp")
    yield "bmp gray", saved(Image.fromarray(noise(202, (H, W))), format="bmp")
    yield "bmp 1 bit", saved(Image.fromarray(noise(203, (H, W)) > 127), format="bmp")
    colors = noise(204, 16 * 4).tobytes()
    rows = b"".join(noise(210 + y, 6).tobytes() + b"\0\0" for y in range(H))
    yield "bmp 4 bits", bmp(W, H, 4, rows, palette=colors)
    yield "bmp of OS/2", bmp(W, H, 24, b"".join(noise(230 + y, 3 * W).tobytes() + b"\0\0\0" for y in range(H)), core=True)
    rows = b"".join(noise(250 + y, 2 * W).tobytes() + b"\0\0" for y in range(H))
    yield "bmp 15 bits", bmp(W, H, 16, rows)
    yield "bmp 16 bits", bmp(W, H, 16, rows, form=3, masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F))
    yield "bmp top down", bmp(W, -H, 24, b"".join(noise(270 + y, 3 * W).tobytes() + b"\0\0\0" for y in range(H)))
    # Runs, single colors with and without a byte to fill up, and the end of a row before its last pixel.
    runs = b"".join(bytes([4, y, 0, 3, y % 5, 7, 9, 0, 0, 4, 1, 2, 3, 4, 0, 0]) for y in range(H - 1)) + bytes([5, 1, 0, 0, 0, 1])
    yield "bmp runs of 8 bits", bmp(W, H, 8, runs, form=1, palette=colors)
    runs = b"".join(bytes([4, 16 * y + 3, 0, 4, 0x12, 0x34, 1, 0x70, 0, 0]) for y in range(H)) + bytes([0, 1])
    yield "bmp runs of 4 bits", bmp(W, H, 4, runs, form=2, palette=colors)


def tiff(bits, samples, photometric, blocks, tags=(), order="<"):
    """A TIFF file of strips or tiles, for forms that Pillow does not write."""
    short, long = 3, 4
    entries = [(256, long, [W]), (257, long, [H]), (258, short, [bits] * samples), (259, short, [1]),
               (262, short, [photometric]), (277, short, [samples]), *tags]
    tiled = any(tag == 322 for tag, _, _ in tags)
    offsets, data = [], b""
    for block in blocks:
        offsets.append(8 + len(data))
        data += block + b"\0" * (len(block) % 2)
    entries += [(324 if tiled else 273, long, offsets), (325 if tiled else 279, long, [len(one) for one in blocks])]
    at = 8 + len(data)
    behind = at + 2 + 12 * len(entries) + 4
    directory, extra = struct.pack(order + "H", len(entries)), b""
    for tag, kind, values in sorted(entries):
        packed = struct.pack(f"{order}{len(values)}{'H' if kind == short else 'I'}", *values)
        if len(packed) > 4:
            offset, extra = behind + len(extra), extra + packed
            packed = struct.pack(order + "I", offset)
        directory += struct.pack(order + "HHI", tag, kind, len(values)) + packed.ljust(4, b"\0")
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(order + "I", at) + data + directory + b"\0" * 4 + extra


def tiff_files():
    rgb = Image.fromarray(noise(300, (H, W, 3)))
    for compression in ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"]:
        yield f"tiff {compression}", saved(rgb, format="tiff", compression=compression)
    yield "tiff jpeg", saved(Image.fromarray(smooth(3)), format="tiff", compression="jpeg", quality=90)
    yield "tiff gray", saved(Image.fromarray(noise(301, (H, W))), format="tiff")
    yield "tiff rgba", saved(Image.fromarray(noise(302, (H, W, 4))), format="tiff")
    yield "tiff 1 bit", saved(Image.fromarray(noise(303, (H, W)) > 127), format="tiff")
    yield "tiff group 4", saved(Image.fromarray(noise(304, (H, W)) > 127), format="tiff", compression="group4")
    palette = Image.frombytes("P", (W, H), (noise(305, (H, W)) % 7).tobytes())
    palette.putpalette(noise(306, 21).tolist())
    yield "tiff palette", saved(palette, format="tiff")
    yield "tiff cmyk", saved(Image.fromarray(noise(307, (H, W, 4)), "CMYK"), format="tiff")
    yield "tiff inverted", tiff(8, 1, 0, [noise(310, H * W).tobytes()], [(278, 4, [H])])
    yield "tiff 4 bits", tiff(4, 1, 1, [noise(311, H * 6).tobytes()], [(278, 4, [H])])
    planes = [noise(320 + c, H * W).tobytes() for c in range(3)]
    yield "tiff planes", tiff(8, 3, 2, planes, [(278, 4, [H]), (284, 3, [2])])
    strips = [noise(330 + y, 5 * W * 3).tobytes() for y in range(2)] + [noise(332, 3 * W * 3).tobytes()]
    yield "tiff strips", tiff(8, 3, 2, strips, [(278, 4, [5])])
    tiles = [noise(340, 16 * 16 * 3).tobytes()]
    yield "tiff tiles", tiff(8, 3, 2, tiles, [(322, 4, [16]), (323, 4, [16])])
    deep = np.random.default_rng(350).integers(0, 65536, (H, W, 3))
    for order in "<>":
        yield f"tiff 16 bit rgb {order}", tiff(16, 3, 2, [deep.astype(order + "u2").tobytes()], [(278, 4, [H])], order)
    yield "tiff 16 bit gray", tiff(16, 1, 1, [deep[..., 0].astype("<u2").tobytes()], [(278, 4, [H])])


def webp_files():
    yield "webp lossless", saved(Image.fromarray(noise(400, (H, W, 3))), format="webp", lossless=True)
    yield "webp lossless with alpha", saved(Image.fromarray(noise(401, (H, W, 4))), format="webp", lossless=True, exact=True)
    yield "webp lossy", saved(Image.fromarray(smooth(3)), format="webp", quality=80)
    yield "webp lossy with alpha", saved(Image.fromarray(smooth(4)), format="webp", quality=80)
    frames = [Image.fromarray(noise(410 + i, (H, W, 3))) for i in range(3)]
    yield "webp animated", saved(frames[0], format="webp", save_all=True, append_images=frames[1:], lossless=True)


def as_rgb(image):
    """Pillow's RGB. It doesn't scale 16-bit gray, which keeps its upper byte in TensorFlow."""
    if image.mode.startswith("I"):
        return np.repeat((np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)[..., None], 3, -1)
    return np.asarray(image.convert("RGB"))


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
    low = np.random.default_rng(9).integers(0, 65536, (H, W)).astype(">u2")
    yield "png 16 bit gray", png(W, H, 16, 0, [row.tobytes() for row in low])
    yield "png 16 bit rgb", png(W, H, 16, 2, deep_rows(3, 60))
    yield "png 16 bit gray alpha", png(W, H, 16, 4, deep_rows(2, 80))
    yield "png 16 bit rgba", png(W, H, 16, 6, deep_rows(4, 100))
    # Only passes 1 and 6 of the seven have pixels in a picture of 2 x 1 pixels.
    yield "png interlaced", png(2, 1, 8, 2, [b"\1\2\3", b"\4\5\6"], interlace=1)
    yield from bmp_files()
    yield from tiff_files()
    yield from webp_files()


SIZES = [(7, 5), (13, 22), (26, 11), (1, 1), (5, 30), (40, 3), (13, 11), (12, 10)]
METHODS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC,
           "nearest": Image.Resampling.NEAREST}


def main():
    cases = {"decode": {}, "image": noise(11, (H, W, 3)).reshape(-1).tolist(), "shape": [H, W, 3], "resize": []}
    for name, data in files():
        rgb = as_rgb(Image.open(io.BytesIO(data)))
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
