#!/usr/bin/env python3
"""Checks the pages of the site. check_html.py FOLDER

- A link to a page or a file of the site resolves, and so does its #anchor.
- A page has a title, a language, one heading h1, and no id twice. A picture has a text, a control a name.
- Headings of an article don't leave out a level. An element with the role of a heading has a level, an aside a name.
- No element has the class contents, above which the theme writes an error.
- Colours of the style sheets have enough contrast (contrast.py).
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import contrast

OF_SPHINX = {"search.html", "genindex.html"}  # their contents are made by scripts


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.findings, self.headings, self.title = set(), [], [], 0, ""
        self.in_title, self.in_article, self.level = False, False, 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        name = given.get("id")
        if name in self.ids:
            self.findings.append(f"the id {name} is there twice")
        if name:
            self.ids.add(name)
        for key in ("href", "src"):
            if given.get(key):
                self.links.append(given[key])
        if tag == "img" and not given.get("alt"):
            self.findings.append(f"the picture {given.get('src')} needs a text")
        if tag == "html" and not given.get("lang"):
            self.findings.append("the page needs a language")
        if tag in ("input", "button") and given.get("type") != "hidden" and not named(given):
            self.findings.append(f"the control {tag} needs a name")
        if given.get("role") == "heading" and not given.get("aria-level"):
            self.findings.append(f"the heading of an element {tag} needs an aria-level")
        if "contents" in (given.get("class") or "").split():
            self.findings.append(f"the theme shows elements of the class contents as errors; got {tag}")
        if tag == "aside" and not given.get("aria-label"):
            self.findings.append("an aside needs a name")
        self.headings += tag == "h1"
        self.in_article = self.in_article or tag == "article"
        if self.in_article and re.fullmatch("h[1-6]", tag):
            if int(tag[1]) > self.level + 1:
                self.findings.append(f"a heading {tag} follows an h{self.level}")
            self.level = int(tag[1])
        self.in_title = self.in_title or tag == "title"

    def handle_data(self, data):
        if self.in_title:
            self.title += data
            self.in_title = False


def named(given):
    """True if a control has a text for readers of screens."""
    return any(given.get(key) for key in ("aria-label", "aria-labelledby", "title", "placeholder", "value"))


def check_link(link, path, pages, folder):
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return f"the link to {link} does not resolve"
    page = pages.get(target)
    if parts.fragment and page and unquote(parts.fragment) not in page.ids:
        return f"{target.relative_to(folder)} has no anchor #{parts.fragment}"
    return None


def check(folder):
    folder = Path(folder).resolve()
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html")) if path.name not in OF_SPHINX}
    count = 0
    for path, page in pages.items():
        name = path.relative_to(folder)
        yield from (f"{name}: {finding}" for finding in page.findings)
        if not page.title.strip():
            yield f"{name}: the page needs a title"
        if page.headings != 1:
            yield f"{name}: a page has one h1; got {page.headings}"
        for link in dict.fromkeys(page.links):
            count += 1
            if link not in OF_SPHINX and not link.endswith(tuple(OF_SPHINX)):
                finding = check_link(link, path, pages, folder)
                if finding:
                    yield f"{name}: {finding}"
    yield from contrast.check(folder)
    print(f"{len(pages)} pages, {count} links")


if __name__ == "__main__":
    findings = list(check(sys.argv[1]))
    print("\n".join(findings))
    sys.exit(1 if findings else 0)
