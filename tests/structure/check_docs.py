#!/usr/bin/env python3
"""Checks README.md and the pages of docs. check_docs.py [ROOT]

- A link to a file of the tree resolves, and so does its #anchor.
- docs/README.md, the index, links each page of docs once, in a table of one of its groups. README.md links to it.
- A page has at most as many words as WORDS says.
- `find_package(mezzo 0.2` has the version of the headers, as has the newest release in docs/changelog.md.
- An error text that heads a part of docs/errors.md is a text of the library (error_texts.py).
- A release in docs/changelog.md has less than RELEASE_LINES lines. Unreleased may be longer.

Every finding is one line, `file:line: rule`; the exit code is 1 if there is any.
"""

import re
import sys
from pathlib import Path

from error_texts import check_errors
from report import report

INDEX = "docs/README.md"
GROUPS = ["Start", "Train", "Precision", "Data", "Extend", "Deploy", "Reference"]
WORDS, NOTES = {"docs/performance.md": 2500}, "docs/benchmarks/notes.md"
CHANGELOG, RELEASE_LINES = "docs/changelog.md", 40
VERSION = "framework/mezzo/core/version.hpp"
PACKAGE = re.compile(r"find_package\(mezzo (?P<version>[\d.]+)")
FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?^[ \t]*\1[ \t]*$", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\[(?P<text>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<target>[^()\s]+)\)")
HEADING = re.compile(r"^(?P<level>#+) (?P<text>.+?)\s*$", re.M)
ROW = re.compile(r"^\| \[[^\]]*\]\((?P<target>[^)#]+)\) \| (?P<answer>.+) \|$", re.M)


def blanked(text):
    """The text with spaces in place of code blocks and comments: all places stay."""
    for pattern in (FENCE, COMMENT):
        text = pattern.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), text)
    return text


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    text = LINK.sub(lambda link: link["text"], heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(text):
    """Anchors of all headings; a repeated one has a number at its end."""
    seen, found = {}, set()
    for heading in HEADING.finditer(blanked(text)):
        name = slug(heading["text"])
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def links(text):
    """Links outside of code: `layers()[0](x)` is none."""
    either = re.compile(f"{CODE.pattern}|{LINK.pattern}")
    return [link for link in either.finditer(blanked(text)) if link["target"]]


def line_of(text, place):
    return text.count("\n", 0, place) + 1


class Docs:
    """README.md and all pages of docs: text by path."""

    def __init__(self, root):
        self.root = Path(root)
        paths = [self.root / "README.md", *sorted((self.root / "docs").rglob("*.md"))]
        self.pages = {path.relative_to(self.root).as_posix(): path.read_text(encoding="utf-8")
                      for path in paths if path.is_file()}

    def resolve(self, page, target):
        """Path of a link's target from the root; None for one that leaves the tree."""
        path = ((self.root / page).parent / target).resolve()
        root = self.root.resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def check_links(docs):
    for page, text in docs.pages.items():
        for link in links(text):
            target, _, anchor = link["target"].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            where = f"{page}:{line_of(text, link.start())}"
            path = docs.resolve(page, target) if target else page
            if path is None or not (docs.root / path).exists():
                yield where, f"the link to {target} does not resolve"
            elif anchor and path.endswith(".md"):
                other = docs.pages.get(path) or (docs.root / path).read_text(encoding="utf-8")
                if anchor not in anchors(other):
                    yield where, f"{path} has no heading #{anchor}"


def check_index(docs):
    text = docs.pages.get(INDEX)
    if text is None:
        yield INDEX, "is missing: the index of all pages"
        return
    groups = [heading["text"] for heading in HEADING.finditer(text) if heading["level"] == "##"]
    if groups != GROUPS:
        yield INDEX, f"groups must be {', '.join(GROUPS)}; got {', '.join(groups)}"
    listed = [docs.resolve(INDEX, row["target"]) for row in ROW.finditer(text[text.find("\n## ") + 1:])]
    for page in docs.pages:
        if page.startswith("docs/") and page != INDEX and listed.count(page) != 1:
            yield INDEX, f"must list {page} once; got {listed.count(page)} rows"
    readme = docs.pages.get("README.md", "")
    if not any(link["target"].split("#")[0] == INDEX for link in links(readme)):
        yield "README.md", f"must link to {INDEX}"


def words(text):
    """Number of words, without the lines and bars of tables and without comments."""
    return sum(not re.fullmatch(r"[|:-]+", word) for word in COMMENT.sub("", text).split())


def check_lengths(docs):
    for page, limit in WORDS.items():
        count = words(docs.pages.get(page, ""))
        if count > limit:
            yield page, f"must have at most {limit} words; got {count}: details belong to {NOTES}"
    text = docs.pages.get(CHANGELOG, "")
    releases = [heading for heading in HEADING.finditer(text) if heading["level"] == "##"]
    for release, after in zip(releases, [*releases[1:], None]):
        part = text[release.start():after.start() if after else len(text)]
        lines = sum(bool(line.strip()) for line in part.splitlines())
        if release["text"] != "Unreleased" and lines >= RELEASE_LINES:
            yield (f"{CHANGELOG}:{line_of(text, release.start())}",
                   f"{release['text']} must have less than {RELEASE_LINES} lines; got {lines}")


def check_version(docs):
    path = docs.root / VERSION
    if not path.is_file():
        return
    version = ".".join(re.findall(r"^#define MEZZO_VERSION_\w+ (\d+)$", path.read_text(encoding="utf-8"), re.M))
    for page, text in docs.pages.items():
        for found in PACKAGE.finditer(text):
            if not f"{version}.".startswith(f"{found['version']}."):
                yield f"{page}:{line_of(text, found.start())}", f"must name version {version}; got {found['version']}"
    release = re.search(r"^## (\d\S*)", docs.pages.get(CHANGELOG, ""), re.M)
    if release and release[1] != version:
        yield CHANGELOG, f"must have {version} as the newest release, as {VERSION}; got {release[1]}"


def check(root):
    docs = Docs(root)
    return [*check_links(docs), *check_index(docs), *check_lengths(docs), *check_version(docs),
            *check_errors(docs)]


def main():
    findings = check(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    return report(findings)


if __name__ == "__main__":
    sys.exit(main())
