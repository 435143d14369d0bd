"""Whether a display's pictures are what a notebook promises of them: check_display(data, promise)."""

import base64
import re
import struct
import xml.etree.ElementTree as ElementTree
import zlib


class Broken(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Broken(text)


def png_size(data):
    """(width, height) of an 8-bit gray or RGB PNG file, after all of it was read."""
    require(data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG file")
    chunks, at = [], 8
    while at < len(data):
        require(at + 12 <= len(data), "a PNG chunk is cut")
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        crc = data[at + 8 + length:at + 12 + length]
        require(len(crc) == 4 and struct.unpack(">I", crc)[0] == zlib.crc32(kind + body), "a PNG chunk is damaged")
        chunks.append((kind, body))
        at += 12 + length
    require(chunks and chunks[0][0] == b"IHDR" and chunks[-1][0] == b"IEND", "a PNG file has no begin or end")
    width, height, depth, color = struct.unpack(">IIBB", chunks[0][1][:10])
    require(depth == 8 and color in (0, 2), "the PNG file is not 8-bit gray or RGB")
    try:
        pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    except zlib.error as error:
        raise Broken(f"PNG data: {error}") from error
    row = 1 + width * (1 if color == 0 else 3)
    require(len(pixels) == height * row, "PNG data is not as long as its size says")
    require(len({pixels[y * row + 1:(y + 1) * row] for y in range(height)}) > 1, "the PNG picture is empty")
    return width, height


def png_of(text):
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Broken(f"base64: {error}") from error


def check_png(data, promise):
    size = dict(zip(("width", "height"), png_size(png_of(data["image/png"]))))
    require(size == promise, f"PNG must be {promise}; got {size}")


def points_of_table(text):
    """The titles that a chart's points have, from the table of the same numbers."""
    title, _, *rows = [line.split() for line in text.splitlines()]
    return sorted(f"{name}, epoch {row[0]}: {number}" for row in rows for name, number in zip(title[1:], row[1:]))


def check_svg(data, promise):
    try:
        root = ElementTree.fromstring(data["image/svg+xml"])
    except ElementTree.ParseError as error:
        raise Broken(f"SVG: {error}") from error
    require(re.sub(r"^\{.*\}", "", root.tag) == "svg", f"SVG must begin with svg; got {root.tag}")
    elements = {}
    for element in root.iter():
        elements.setdefault(re.sub(r"^\{.*\}", "", element.tag), []).append(element)
    counts = {kind: len(elements.get(kind, [])) for kind in promise}
    require(counts == promise, f"SVG must have {promise}; got {counts}")
    for image in elements.get("image", []):
        head, _, body = image.get("{http://www.w3.org/1999/xlink}href", "").partition(",")
        require(head == "data:image/png;base64", "an SVG image is no PNG file")
        require(png_size(png_of(body)) == (int(image.get("width")), int(image.get("height"))), "an SVG image is stretched")
    if "circle" in elements:
        titles = sorted(title.text for title in elements.get("title", []))
        expected = points_of_table(data["text/plain"])
        require(titles == expected, f"points must be {expected}; got {titles}")


CHECKS = {"image/png": check_png, "image/svg+xml": check_svg,
          "text/plain": lambda data, promise: require(promise in data["text/plain"], f"text must have {promise!r}")}


def check_display(data, promise):
    """data: a MIME bundle. promise: for each of its MIME types a PNG's {"width", "height"}, the number of elements of
    each kind in an SVG, or a part of a text. Raises Broken."""
    require(set(data) == set(promise), f"must show {sorted(promise)}; got {sorted(data)}")
    for kind, value in promise.items():
        CHECKS[kind](data, value)
