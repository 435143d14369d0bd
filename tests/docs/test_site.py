#!/usr/bin/env python3
"""Shows that check_html.py finds what is wrong with pages of the site, and how notebooks become pages."""

import base64
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "site"))
import check_html  # noqa: E402
import contrast  # noqa: E402
import notebook  # noqa: E402
from api_errors import Errors  # noqa: E402

PAGE = '<html lang="en"><head><title>A</title></head><body><h1 id="a">A</h1>{}</body></html>'


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def findings(self, body):
        (self.folder / "b.html").write_text(PAGE.format(""))
        (self.folder / "a.html").write_text(PAGE.format(body))
        return list(check_html.check(self.folder))

    def test_links(self):
        self.assertEqual(self.findings('<a href="b.html#a">b</a><a href="#a">a</a><a href="https://a.org">c</a>'), [])
        self.assertEqual(self.findings('<a href="c.html">c</a>'), ["a.html: the link to c.html does not resolve"])
        self.assertEqual(self.findings('<a href="b.html#c">c</a>'), ["a.html: b.html has no anchor #c"])

    def test_contents(self):
        self.assertEqual(self.findings('<p id="a"></p>'), ["a.html: the id a is there twice"])
        self.assertEqual(self.findings("<h1>B</h1>"), ["a.html: a page has one h1; got 2"])
        self.assertEqual(self.findings('<img src="b.html">'), ["a.html: the picture b.html needs a text"])

    def test_headings_and_controls(self):
        self.assertEqual(self.findings("<article><h2>B</h2><h3>C</h3><h2>D</h2></article>"),
                         ["a.html: a heading h2 follows an h0"])
        self.assertEqual(self.findings('<article><h4>B</h4></article><input type="text"><input aria-label="c">'),
                         ["a.html: a heading h4 follows an h0", "a.html: the control input needs a name"])

    def test_class_contents(self):
        self.assertEqual(self.findings('<dl class="a contents"></dl><dl class="headers"></dl>'),
                         ["a.html: the theme shows elements of the class contents as errors; got dl"])

    def test_names_for_screen_readers(self):
        self.assertEqual(self.findings('<aside aria-label="A"></aside><p role="heading" aria-level="2">B</p>'), [])
        self.assertEqual(self.findings('<aside></aside><p role="heading">B</p>'),
                         ["a.html: an aside needs a name", "a.html: the heading of an element p needs an aria-level"])

    def test_contrast(self):
        self.assertAlmostEqual(contrast.contrast("#000", "#ffffff"), 21)
        self.assertAlmostEqual(contrast.contrast("#777777", "#fff"), 4.48, 2)
        css = 'body{--color-a:#111}@media not print{body[data-theme="dark"]{--color-a:#eee}}'
        self.assertEqual([contrast.variables(css, dark) for dark in (False, True)], [{"a": "#111"}, {"a": "#eee"}])
        code = ".highlight { background: #fff; color: #000 }\n.highlight .c { color: #ccc } /* Comment */\n"
        self.assertEqual(contrast.highlights(code, False), [(".highlight .c", "#ccc", "#fff")])

    def test_errors(self):
        page = "### `no … here`\n\nFrom `f()`, `A::b`.\n\n### `other`\n\nText.\n"
        errors = Errors(["mezzo.f", "A.b"], page)
        link = '<p class="part">Errors</p><ul><li><a href="../errors.html#no--here"><code>no … here</code></a></li></ul>'
        self.assertEqual([errors.html(["mezzo.f-2"]), errors.html(["A.b"]), errors.html(["A.c"])], [link, link, ""])
        self.assertEqual(errors.findings(), ["docs/errors.md: no line `From ...` below other"])
        self.assertEqual(Errors([], page).findings()[0], "docs/errors.md: no class or function f() has a page")

    def test_notebook(self):
        picture = base64.b64encode(b"PNG").decode()
        cells = [{"cell_type": "markdown", "source": ["# N\n", "text"]},
                 {"cell_type": "code", "source": "f();", "outputs": [
                     {"output_type": "stream", "text": ["1\n"]},
                     {"output_type": "display_data", "data": {"image/png": picture, "text/plain": "[two shoes]"}}]}]
        path = self.folder / "n.ipynb"
        path.write_text(json.dumps({"cells": cells}))
        text = notebook.convert(path, self.folder / "n.md")
        self.assertEqual(text, "# N\ntext\n\n``````cpp\nf();\n``````\n\n``````none\n1\n``````\n\n![(two shoes)](n-2.png)\n")
        self.assertEqual((self.folder / "n-2.png").read_bytes(), b"PNG")


if __name__ == "__main__":
    unittest.main()
