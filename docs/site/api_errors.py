"""Links from classes and functions to the texts of their errors on the page of errors.

An error of docs/errors.md has a line `From ...`, with the names of the classes and functions that throw it.
"""

import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "structure"))
from check_docs import slug  # noqa: E402
from error_texts import HEADING  # noqa: E402

FROM = re.compile(r"^From (?P<names>.+)\.$", re.M)


class Errors:
    """`anchors` are those of the API pages: Dense, Trainer.fit, mezzo.reshape."""

    def __init__(self, anchors, page=None):
        text = page if page is not None else (ROOT / "docs/errors.md").read_text(encoding="utf-8")
        self.anchors, self.texts, self.missing = set(anchors), {}, []
        headings = list(HEADING.finditer(text))
        for heading, after in zip(headings, [*headings[1:], None]):
            found = FROM.search(text, heading.end(), after.start() if after else len(text))
            for name in re.findall(r"`([^`]+)`", found["names"]) if found else []:
                self.add(name, heading["text"])
            if not found:
                self.missing.append(f"docs/errors.md: no line `From ...` below {heading['text']}")

    def add(self, name, text):
        plain = name.removesuffix("()").replace("::", ".")
        anchor = next((one for one in (plain, f"mezzo.{plain}") if one in self.anchors), None)
        if anchor is None:
            self.missing.append(f"docs/errors.md: no class or function {name} has a page")
        else:
            self.texts.setdefault(anchor, []).append(text)

    def findings(self):
        return self.missing

    def html(self, anchors):
        """The errors of classes and members with these anchors."""
        bare = {re.sub(r"-\d+$", "", anchor) for anchor in anchors}
        texts = list(dict.fromkeys(text for anchor in sorted(bare) for text in self.texts.get(anchor, [])))
        rows = [f'<li><a href="../errors.html#{slug(f"`{text}`")}"><code>{escape(text)}</code></a></li>' for text in texts]
        return f'<p class="part">Errors</p><ul>{"".join(rows)}</ul>' if rows else ""
