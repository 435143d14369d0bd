"""Contrast of the colours of the site's style sheets, in both colour schemes: check(folder of the pages).

The formula is that of WCAG 2.2, which wants 4.5 for text: (L1 + 0.05) / (L2 + 0.05) with the relative luminance L.
"""

import re

LEAST = 4.5
TEXTS = ("foreground-primary", "foreground-secondary", "foreground-muted", "brand-primary", "brand-content", "brand-visited")
PAGE = ("background-primary", "background-secondary")  # code has colours of its own
DARK = '[data-theme="dark"]'
RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
COLOUR = r"#(?:[0-9a-fA-F]{3}){1,2}\b"


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def variables(css, dark):
    """Colours by the name of their variable; later rules win."""
    found = {}
    for selector, body in RULE.findall(css):
        selector = selector.rpartition("{")[2].replace('"', "").strip()
        if re.search(r"(^|[,}\s])body$", selector) or (dark and selector.endswith("body[data-theme=dark]")):
            found.update(re.findall(rf"--color-([\w-]+):\s*({COLOUR})", body))
    return found


def highlights(css, dark):
    """(selector, colour, ground) of the highlighted code, without blanks (.w); later rules win."""
    rules = [(selector.strip(), body) for selector, body in RULE.findall(re.sub(r"/\*.*?\*/", "", css, flags=re.S))]
    wanted = f"body{DARK} .highlight" if dark else ".highlight"
    ground = next((found[1] for selector, body in rules if selector == wanted
                   and (found := re.search(rf"background: ({COLOUR})", body))), None)
    found = {}
    for selector, body in rules:
        text, own = (re.search(rf"(?<![\w-]){name}: ({COLOUR})", body) for name in ("color", "background-color"))
        if selector.startswith(f"{wanted} .") and not selector.endswith(".w") and text and ground:
            found[selector] = text[1], own[1] if own else ground
    return [(selector, *pair) for selector, pair in found.items()]


def check(folder):
    """Yields a finding for each pair below LEAST."""
    sheets, first = folder / "_static", folder / "index.html"
    if not (sheets / "styles" / "furo.css").is_file():
        return
    css = (sheets / "styles" / "furo.css").read_text(encoding="utf-8") + first.read_text(encoding="utf-8")
    code = "".join((sheets / name).read_text(encoding="utf-8") for name in ("pygments.css", "site.css"))
    for dark in (False, True):
        colours = variables(css, dark)
        names = [(text, ground) for text in TEXTS for ground in PAGE]
        names += [("code-foreground", "code-background"), ("brand-content", "code-background")]
        pairs = [(f"{text} on {ground}", colours[text], colours[ground]) for text, ground in names]
        for name, text, ground in [*pairs, *highlights(code, dark)]:
            if (found := contrast(text, ground)) < LEAST:
                yield f"contrast of {name}, {'dark' if dark else 'light'}: {found:.2f} is below {LEAST}"
