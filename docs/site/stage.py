#!/usr/bin/env python3
"""Copies README.md, docs and the notebooks to a folder of pages for Sphinx. stage.py ROOT OUTPUT

README.md becomes the first page, docs/README.md the list of all pages, whose groups are the groups of the sidebar. A
link to another file of the tree leads to a page that shows the file.
"""

import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "structure"))
from check_docs import CODE, COMMENT, FENCE, LINK, ROW  # noqa: E402
import notebook  # noqa: E402

SKIPPED = re.compile(f"{FENCE.pattern}|{CODE.pattern}", re.M | re.S)
MERMAID = re.compile(r"^```mermaid\n.*?^```\n", re.M | re.S)
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".C": "cpp", ".py": "python", ".sh": "bash", ".json": "json",
             ".md": "markdown", ".cmake": "cmake", ".txt": "none", ".def": "cpp"}
MOST_LINES = 1500  # of a file that a page shows
EXTRA = {"Reference": [("API", "api/index")]}
HOME, CONTENTS = "index.md", "contents.md"


def outside_code(pattern, replace, text):
    """Replaces matches of a pattern that are not in code."""
    either = re.compile(f"(?P<code_>{SKIPPED.pattern})".replace(r"\1", "(?P=fence_)").replace(
        "(```+|~~~+)", "(?P<fence_>```+|~~~+)") + f"|{pattern.pattern}", re.M | re.S)
    return either.sub(lambda found: found[0] if found["code_"] else replace(found), text)


class Stage:
    def __init__(self, root, out):
        self.root, self.out = Path(root).resolve(), Path(out)
        self.sources = set()  # files of the tree that pages show

    def page_of(self, path):
        """Name of the page of a file of the tree, or None."""
        if path == "README.md":
            return HOME
        if path == "docs/README.md":
            return CONTENTS
        if path.startswith("docs/") and path.endswith(".md"):
            return path.removeprefix("docs/")
        if path.endswith(".ipynb"):
            return f"tutorials/{Path(path).stem}.md"
        if (self.root / path).is_file():
            self.sources.add(path)
            return f"files/{path}.md"
        return None

    def link(self, found, path, page):
        """A link of the file `path`, which becomes `page`."""
        target, _, anchor = found["target"].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        wanted = os.path.relpath((self.root / path).parent.joinpath(target).resolve(), self.root)
        if re.search(r"\.(svg|png)$", target):
            to = wanted.removeprefix("docs/")
        else:
            to = self.page_of(wanted)
        if to is None:
            return found["text"]
        relative = os.path.relpath(to, Path(page).parent)
        return f"[{found['text']}]({relative}{'#' + anchor if anchor else ''})"

    def text(self, path, page):
        text = MERMAID.sub("", (self.root / path).read_text(encoding="utf-8"))
        text = outside_code(COMMENT, lambda _: "", text)
        text = re.sub(r"^<table>$", '<table class="programs">', text, flags=re.M)
        return outside_code(LINK, lambda found: self.link(found, path, page), text)

    def write(self, page, text):
        (self.out / page).parent.mkdir(parents=True, exist_ok=True)
        (self.out / page).write_text(text, encoding="utf-8")

    def groups(self):
        """Headings of the index with the pages that they list."""
        text = (self.root / "docs/README.md").read_text(encoding="utf-8")
        for part in re.split(r"^## ", text, flags=re.M)[1:]:
            yield part.partition("\n")[0], [row["target"].removesuffix(".md") for row in ROW.finditer(part)]

    def trees(self):
        """The sidebar: a list for each group. Previous and next pages follow from it."""
        out = ["```{toctree}\n:hidden:\n\nAll pages <contents>\n```\n"]
        for name, pages in self.groups():
            entries = [self.entry(page) for page in pages]
            entries += [f"{title} <{page}>" for title, page in EXTRA.get(name, [])]
            out.append("\n".join(["```{toctree}", ":hidden:", f":caption: {name}", "", *entries, "```", ""]))
        return "\n".join(out)

    def entry(self, page):
        target = os.path.normpath(os.path.join("docs", page))
        return self.page_of(target).removesuffix(".md") if page.endswith(".ipynb") else page

    def show(self, path):
        """A page with the text of a file."""
        lines = (self.root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        more = f"\n\nThe first {MOST_LINES} of {len(lines)} lines." if len(lines) > MOST_LINES else ""
        code = "\n".join(lines[:MOST_LINES])
        fence = "`" * 12
        language = LANGUAGES.get(Path(path).suffix, "none")
        self.write(f"files/{path}.md", f"---\norphan: true\n---\n\n# {Path(path).name}\n\n`{path}` in the source tree.{more}"
                                       f"\n\n{fence}{language}\n{code}\n{fence}\n")

    def run(self):
        for folder in (self.root / "docs").rglob("*"):
            if folder.suffix in (".svg", ".png"):
                place = self.out / folder.relative_to(self.root / "docs")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder, place)
        for path in sorted((self.root / "docs").rglob("*.md")):
            name = path.relative_to(self.root).as_posix()
            page = self.page_of(name)
            self.write(page, self.text(name, page))
        for path in sorted((self.root / "tutorials").glob("*.ipynb")):
            name = path.relative_to(self.root).as_posix()
            page = self.page_of(name)
            text = outside_code(LINK, lambda found: self.link(found, name, page), notebook.convert(path, self.out / page))
            self.write(page, "---\norphan: true\n---\n\n" + text)
        self.write(HOME, self.text("README.md", HOME) + "\n" + self.trees())
        for path in sorted(self.sources):
            self.show(path)


if __name__ == "__main__":
    Stage(sys.argv[1], sys.argv[2]).run()
