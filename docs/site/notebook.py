"""A notebook as Markdown: its cells, and their stored outputs."""

import base64
import json

PICTURES = {"image/svg+xml": "svg", "image/png": "png"}


def joined(text):
    return text if isinstance(text, str) else "".join(text)


def fenced(text, language):
    fence = "`" * 6
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def picture(data, page, number, caption):
    """Writes the picture of an output beside the page; None if the output has none."""
    for kind, suffix in PICTURES.items():
        if kind in data:
            name = f"{page.stem}-{number}.{suffix}"
            page.parent.mkdir(parents=True, exist_ok=True)
            content = joined(data[kind])
            (page.parent / name).write_bytes(content.encode() if suffix == "svg" else base64.b64decode(content))
            return f"![{caption}]({name})\n"
    return None


def output(item, page, number):
    if item["output_type"] == "stream":
        return fenced(joined(item["text"]), "none")
    if item["output_type"] == "error":
        return fenced(f"{item['ename']}: {item['evalue']}", "none")
    data = item.get("data", {})
    text = joined(data.get("text/plain", "")).strip()
    caption = " ".join(text.replace("[", "(").replace("]", ")").split()) or f"Output {number}"
    return picture(data, page, number, caption) or (fenced(text, "none") if text else "")


def convert(path, page):
    """Text of the page; pictures are written beside it."""
    parts, number = [], 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source + "\n")
        elif cell["cell_type"] == "code":
            parts.append(fenced(source, "cpp"))
            for item in cell.get("outputs", []):
                number += 1
                parts.append(output(item, page, number))
    return "\n".join(parts)
