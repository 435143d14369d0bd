#!/usr/bin/env python3
"""Shows that check_docs.py finds links that lead nowhere, pages that the index lacks, and pages that are too long."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_docs import CHANGELOG, GROUPS, INDEX, NOTES, RELEASE_LINES, VERSION, WORDS, anchors, check, words  # noqa: E402

ROWS = "| [a.md](a.md) | What is a? |\n| [deep/b.md](deep/b.md) | What is b? |\n"
PAGES = {"README.md": "[all pages](docs/README.md)\n", "LICENSE": "",
         INDEX: "# Docs\n\n" + "".join(f"## {group}\n\n{ROWS if group == 'Train' else ''}\n" for group in GROUPS),
         "docs/a.md": "# A\n\n## Use of `f()`\n\n[b](deep/b.md#b), [licence](../LICENSE), [web](https://a.org/x)\n",
         "docs/deep/b.md": "# B\n\n[use](../a.md#use-of-f) and `model.layers()[0](x)`\n"}


class CheckDocs(unittest.TestCase):
    def findings(self, **changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**PAGES, **changes.get("pages", {})}.items():
                if text is not None:
                    path = Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            return check(folder)

    def expect(self, pages, *findings):
        self.assertEqual(self.findings(pages=pages), list(findings))

    def test_good_docs(self):
        self.expect({})

    def test_links(self):
        self.expect({"docs/a.md": "# A\n\n[b](b.md)\n", "docs/deep/b.md": "# B\n"},
                    ("docs/a.md:3", "the link to b.md does not resolve"))
        self.expect({"docs/a.md": "# A\n\n[out](../../elsewhere)\n", "docs/deep/b.md": "# B\n"},
                    ("docs/a.md:3", "the link to ../../elsewhere does not resolve"))
        self.expect({"docs/a.md": "# A\n"}, ("docs/deep/b.md:3", "docs/a.md has no heading #use-of-f"))
        self.expect({"docs/a.md": PAGES["docs/a.md"] + "[here](#gone) [`f()`](#use-of-f)\n"},
                    ("docs/a.md:6", "docs/a.md has no heading #gone"))

    def test_code_and_comments_have_no_links(self):
        self.expect({"docs/a.md": PAGES["docs/a.md"] + "```cpp\nf[0](x);\n## no heading\n```\n<!-- [x](y.md) -->\n"})
        self.assertEqual(anchors("# A\n```sh\n# B\n```\n# A\n# [C d](x.md)!\n"), {"a", "a-1", "c-d"})

    def test_index(self):
        index = PAGES[INDEX]
        self.expect({"docs/new.md": "# New\n"}, (INDEX, "must list docs/new.md once; got 0 rows"))
        self.expect({INDEX: index + "| [a.md](a.md) | Again? |\n"}, (INDEX, "must list docs/a.md once; got 2 rows"))
        self.expect({INDEX: index.replace(" | What is a? |", " | |")}, (INDEX, "must list docs/a.md once; got 0 rows"))
        self.expect({INDEX: index.replace("## Extend", "## More")},
                    (INDEX, f"groups must be {', '.join(GROUPS)}; got {', '.join(GROUPS).replace('Extend', 'More')}"))
        self.expect({INDEX: None}, ("README.md:1", f"the link to {INDEX} does not resolve"),
                    (INDEX, "is missing: the index of all pages"))
        self.expect({"README.md": "# Project\n"}, ("README.md", f"must link to {INDEX}"))

    def test_errors(self):
        source = {"framework/mezzo/a.cpp": 'fail<E>(where, "size {:d} must be \\"big\\" "\n    "or {{}}; got {}", a, b);\n'}
        page = {INDEX: PAGES[INDEX] + "| [errors.md](errors.md) | What? |\n"}
        self.expect({**source, **page, "docs/errors.md": "# Errors\n\n### `size … must be \"big\" or {}; got …`\n"})
        self.expect({**source, **page, "docs/errors.md": "# Errors\n\n### `size must be small`\n"},
                    ("docs/errors.md:3", "no text of the library has: size must be small"))

    def test_lengths(self):
        self.assertEqual(words("| a b | c |\n|---|:-:|\n<!-- d e -->\nf - g\n"), 5)
        page, limit = next(iter(WORDS.items()))
        listed = {INDEX: PAGES[INDEX] + f"| [long]({Path(page).name}) | Long? |\n"}
        self.expect({**listed, page: "word " * limit})
        self.expect({**listed, page: "word " * (limit + 1)},
                    (page, f"must have at most {limit} words; got {limit + 1}: details belong to {NOTES}"))

    def test_releases(self):
        listed = {INDEX: PAGES[INDEX] + f"| [changes]({Path(CHANGELOG).name}) | Changes? |\n"}
        lines = "- line\n\n" * (RELEASE_LINES - 1)
        self.expect({**listed, CHANGELOG: f"# Changes\n\n## Unreleased\n\n{lines}\n## 0.2.0\n\n- line\n"})
        self.expect({**listed, CHANGELOG: f"# Changes\n\n## Unreleased\n\n## 0.2.0\n\n{lines}"},
                    (f"{CHANGELOG}:5", f"0.2.0 must have less than {RELEASE_LINES} lines; got {RELEASE_LINES}"))

    def test_version(self):
        header = "".join(f"#define MEZZO_VERSION_{part} {number}\n" for part, number in
                         (("MAJOR", 0), ("MINOR", 2), ("PATCH", 1)))
        pages = {VERSION: header, INDEX: PAGES[INDEX] + f"| [changes]({Path(CHANGELOG).name}) | Changes? |\n",
                 CHANGELOG: "# Changes\n\n## Unreleased\n\n## 0.2.1 - 2026-11-26\n",
                 "docs/deep/b.md": PAGES["docs/deep/b.md"] + "```cmake\nfind_package(mezzo 0.2 REQUIRED)\n```\n"}
        self.expect(pages)
        self.expect({**pages, "docs/deep/b.md": pages["docs/deep/b.md"].replace("0.2 ", "0.1 ")},
                    ("docs/deep/b.md:5", "must name version 0.2.1; got 0.1"))
        self.expect({**pages, CHANGELOG: "# Changes\n\n## Unreleased\n\n## 0.2.0\n"},
                    (CHANGELOG, f"must have 0.2.1 as the newest release, as {VERSION}; got 0.2.0"))


if __name__ == "__main__":
    unittest.main()
