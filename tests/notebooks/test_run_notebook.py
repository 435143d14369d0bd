#!/usr/bin/env python3
"""Shows that run_notebook.py finds each kind of fault, without a kernel."""

import base64
import copy
import struct
import sys
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from pictures import Broken, check_display  # noqa: E402
from run_notebook import check_stored, run_notebook, stored  # noqa: E402


def png(width, height, pixels=None, crc=0):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body) ^ crc)
    rows = pixels or b"".join(bytes([0] + [y] * width) for y in range(height))
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return base64.b64encode(data).decode()


TABLE = "epoch  loss\n-----------\n    0   0.5\n    1  0.25"
POINTS = ("<circle><title>loss, epoch 0: 0.5</title></circle>", "<circle><title>loss, epoch 1: 0.25</title></circle>")


def svg(inside):
    return ('<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
            f"{''.join(inside)}</svg>")


def notebook(source, shows=None, kernel="mezzo", tags=()):
    return {"metadata": {"kernelspec": {"name": kernel}},
            "cells": [{"cell_type": "markdown", "source": ["text"]},
                      {"cell_type": "code", "source": [source], "outputs": [],
                       "metadata": {"tags": list(tags), **({"mezzo": {"shows": shows}} if shows else {})}}]}


def giving(*outputs):
    """Stands in for a kernel: each code cell gives the outputs."""
    def execute(one):
        for cell in one["cells"]:
            if cell["cell_type"] == "code":
                cell.update(outputs=[stored(output) for output in copy.deepcopy(outputs)], execution_count=1)
    return execute


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(data):
    return {"output_type": "display_data", "data": data, "metadata": {}}


def error(text):
    return {"output_type": "error", "ename": "mezzo::Error", "evalue": text, "traceback": [text]}


class Pictures(unittest.TestCase):
    def broken(self, text, data, promise):
        with self.assertRaisesRegex(Broken, text):
            check_display(data, promise)

    def test_png(self):
        promise = {"image/png": {"width": 3, "height": 2}}
        check_display({"image/png": png(3, 2)}, promise)
        self.broken("PNG must be .*'height': 2.*got .*'height': 3", {"image/png": png(3, 3)}, promise)
        self.broken("damaged", {"image/png": png(3, 2, crc=1)}, promise)
        self.broken("not as long", {"image/png": png(3, 2, bytes(4))}, promise)
        self.broken("empty", {"image/png": png(3, 2, bytes(8))}, promise)
        self.broken("no PNG file", {"image/png": "aaaa"}, promise)
        self.broken("base64", {"image/png": "a"}, promise)
        cut = base64.b64encode(base64.b64decode(png(3, 2))[:-2]).decode()
        self.broken("PNG chunk", {"image/png": cut}, promise)

    def test_svg_points(self):
        promise = {"image/svg+xml": {"circle": 2}, "text/plain": "epoch  loss"}
        check_display({"image/svg+xml": svg(POINTS), "text/plain": TABLE}, promise)
        self.broken("must have .*2.*got .*1", {"image/svg+xml": svg(POINTS[:1]), "text/plain": TABLE}, promise)
        self.broken("points must be", {"image/svg+xml": svg(POINTS[:1] * 2), "text/plain": TABLE}, promise)
        self.broken("SVG: ", {"image/svg+xml": svg(POINTS)[:-1], "text/plain": TABLE}, promise)
        self.broken("text must have", {"image/svg+xml": svg(POINTS), "text/plain": TABLE[1:]}, promise)

    def test_svg_images(self):
        def picture(width):
            return svg([f'<image width="{width}" height="2" xlink:href="data:image/png;base64,{png(3, 2)}"/>'])
        check_display({"image/svg+xml": picture(3)}, {"image/svg+xml": {"image": 1}})
        self.broken("stretched", {"image/svg+xml": picture(4)}, {"image/svg+xml": {"image": 1}})

    def test_kinds(self):
        self.broken("must show .*text/plain.*; got .*image/png", {"image/png": png(1, 1)}, {"text/plain": "x"})


class Notebooks(unittest.TestCase):
    def test_outputs(self):
        data = {"image/png": png(3, 2), "text/plain": "two\nlines"}
        one = notebook("x", [{"image/png": {"width": 3, "height": 2}, "text/plain": "two"}])
        before = copy.deepcopy(one)
        run_notebook(one, giving(stream("a\nb\n"), shown(data)))
        self.assertEqual(one["cells"][1]["outputs"], [
            {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]},
            {"output_type": "display_data", "metadata": {},
             "data": {"image/png": data["image/png"], "text/plain": ["two\n", "lines"]}}])
        check_stored(one)
        with self.assertRaisesRegex(Broken, "as stored: must have 1 displays; got 0"):
            check_stored(before)

    def test_faults(self):
        text = shown({"text/plain": "x"})
        for expected, one, execute in [
                ("must be mezzo", notebook("x", kernel="xcpp17"), giving()),
                ("code cell 1 failed:\nthe source\nprinted.*: the reason", notebook("the source"),
                 giving(stream("printed\n"), error("the reason"))),
                ("code cell 1 must fail", notebook("x", tags=["raises-exception"]), giving()),
                ("must have 1 displays; got 0", notebook("x", [{"text/plain": "x"}]), giving()),
                ("must have 0 displays; got 1", notebook("x"), giving(text)),
                ("text must have 'y'", notebook("x", [{"text/plain": "y"}]), giving(text))]:
            with self.assertRaisesRegex(Broken, f"(?s){expected}"):
                run_notebook(one, execute)

    def test_expected_error(self):
        run_notebook(notebook("x", tags=["raises-exception"]), giving(error("the reason")))


if __name__ == "__main__":
    unittest.main()
