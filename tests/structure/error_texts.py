"""Rule: each error text in docs/errors.md is one of the library's.

A heading `### `text`` has a part of a text between backticks, with … in place of each value.
"""

import re

PAGE, ROOTS = "docs/errors.md", ("framework", "models", "datasets")
HEADING = re.compile(r"^### `(?P<text>.+)`$", re.M)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
LITERALS = re.compile(rf"{LITERAL.pattern}(?:\s*{LITERAL.pattern})*")
PLACEHOLDER = re.compile(r"(?<!\{)\{[^{}]*\}(?!\})")


def shown(literals):
    """A literal, or several side by side, as the reader of the error sees it."""
    text = "".join(LITERAL.findall(literals))
    text = PLACEHOLDER.sub("…", re.sub(r"\\(.)", r"\1", text))
    return text.replace("{{", "{").replace("}}", "}")


def library_texts(root):
    paths = [path for top in ROOTS for kind in ("*.cpp", "*.hpp") for path in sorted((root / top).rglob(kind))]
    return "\n".join(shown(found[0]) for path in paths for found in LITERALS.finditer(path.read_text(encoding="utf-8")))


def check_errors(docs):
    page = docs.pages.get(PAGE)
    if page is None:
        return
    texts = library_texts(docs.root)
    for heading in HEADING.finditer(page):
        if heading["text"] not in texts:
            yield f"{PAGE}:{page.count(chr(10), 0, heading.start()) + 1}", f"no text of the library has: {heading['text']}"
