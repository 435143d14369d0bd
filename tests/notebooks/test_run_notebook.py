#!/usr/bin/env python3
"""Shows that run_notebook.py finds each kind of fault, with cells that only print; with real ones where Cling is."""

import base64
import copy
import importlib.util
import json
import struct
import sys
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from pictures import Broken, check_display  # noqa: E402
from run_notebook import check_stored, in_prefix, run_notebook  # noqa: E402


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


def notebook(source, shows=None, kernel="xcpp17"):
    return {"metadata": {"kernelspec": {"name": kernel}},
            "cells": [{"cell_type": "markdown", "source": ["text"]},
                      {"cell_type": "code", "source": [source], "outputs": [],
                       "metadata": {"mezzo": {"shows": shows}} if shows else {}}]}


def printing(source):
    """Runs a cell by printing it."""
    print(source, end="")
    return True


def shown(data):
    return f"before\n\x02{json.dumps(data)}\x03after\n"


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
        one = notebook(shown(data), [{"image/png": {"width": 3, "height": 2}, "text/plain": "two"}])
        stored = copy.deepcopy(one)
        run_notebook(one, "", printing)
        cell = one["cells"][1]
        self.assertEqual(cell["execution_count"], 1)
        self.assertEqual(cell["outputs"], [
            {"output_type": "stream", "name": "stdout", "text": ["before\n"]},
            {"output_type": "display_data", "metadata": {},
             "data": {"image/png": data["image/png"], "text/plain": ["two\n", "lines"]}},
            {"output_type": "stream", "name": "stdout", "text": ["after\n"]}])
        check_stored(one)
        with self.assertRaisesRegex(Broken, "as stored: must have 1 displays; got 0"):
            check_stored(stored)

    def test_faults(self):
        for text, one, run in [("must be xcpp17", notebook("x", kernel="xcpp14"), printing),
                               ("code cell 1 failed:\nthe source", notebook("the source"), lambda source: False),
                               ("must have 1 displays; got 0", notebook("x", [{"text/plain": "x"}]), printing),
                               ("must have 0 displays; got 1", notebook(shown({"text/plain": "x"})), printing),
                               ("text must have 'y'", notebook(shown({"text/plain": "x"}), [{"text/plain": "y"}]),
                                printing)]:
            with self.assertRaisesRegex(Broken, text):
                run_notebook(one, "", run)

    def test_prefix(self):
        source = '#pragma cling add_library_path("/usr/local/lib")\nstd::string s = "/usr/local";'
        self.assertEqual(in_prefix(source, "P"), source.replace("/usr/local/lib", "P/lib"))


@unittest.skipUnless(importlib.util.find_spec("ROOT"), "needs Cling")
class InCling(unittest.TestCase):
    def test_cells(self):
        sys.path.insert(0, str(Path(__file__).parents[1] / "cling"))
        from interpreter import run_cell
        run_notebook(notebook("#include <stdexcept>\nint one = 1;"), "", run_cell)
        one = notebook("std::cout << one << std::endl;")
        run_notebook(one, "", run_cell)
        self.assertEqual(one["cells"][1]["outputs"], [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}])
        for source, reason in [('throw std::runtime_error("the reason");', "the reason"),
                               ("int two = missing;", "undeclared identifier 'missing'")]:
            with self.assertRaisesRegex(Broken, f"(?s)code cell 1 failed:.*{reason}"):
                run_notebook(notebook(source), "", run_cell)


if __name__ == "__main__":
    unittest.main()
