"""HTML of docstrings and declarations in the XML of Doxygen."""

import re
from html import escape

from latex2mathml.converter import convert

TAGS = {"para": "p", "computeroutput": "code", "emphasis": "em", "bold": "strong", "itemizedlist": "ul",
        "orderedlist": "ol", "listitem": "li", "table": "table", "row": "tr", "entry": "td", "verbatim": "pre",
        "preformatted": "pre", "superscript": "sup", "subscript": "sub", "blockquote": "blockquote"}
SIGNS = {"ndash": "–", "mdash": "—", "sp": " ", "nonbreakablespace": " ", "linebreak": "<br>", "lsquo": "‘",
         "rsquo": "’", "hellip": "…"}
PART_NAMES = {"param": "Parameters", "retval": "Returns", "exception": "Throws", "templateparam": "Parameters"}
LONG = 88  # characters of a declaration in one line


class Texts:
    """Makes HTML; `address(refid)` is the link to a class or member, or None. `linked` has addresses by name."""

    def __init__(self, address, linked=None):
        self.address, self.linked = address, linked or {}

    def inner(self, element):
        out = [escape(element.text or "")]
        for child in element:
            out += [self.html(child), escape(child.tail or "")]
        return "".join(out)

    def html(self, element):
        tag = element.tag
        if tag == "ref":
            target = self.address(element.get("refid"))
            text = self.inner(element)
            return f'<a href="{target}">{text}</a>' if target else text
        if tag == "formula":
            return convert(element.text.strip("$ "))
        if tag == "simplesect":
            return f'<p class="part">{escape(element.get("kind").capitalize())}</p>{self.inner(element)}'
        if tag == "parameterlist":
            return self.parameters(element)
        if tag in SIGNS:
            return SIGNS[tag]
        if tag in TAGS:
            return f"<{TAGS[tag]}>{self.inner(element)}</{TAGS[tag]}>"
        return self.inner(element)

    def parameters(self, element):
        rows = []
        for item in element.findall("parameteritem"):
            names = ", ".join(self.inner(name) for name in item.iter("parametername"))
            rows.append(f"<li><code>{names}</code>: {self.inner(item.find('parameterdescription'))}</li>")
        return f'<p class="part">{PART_NAMES.get(element.get("kind"), "")}</p><ul>{"".join(rows)}</ul>'

    def docs(self, element):
        """Brief and detailed description."""
        parts = [self.inner(part) for part in (element.find("briefdescription"), element.find("detaileddescription"))
                 if part is not None]
        text = code_in_backticks("".join(parts).strip())
        return self.with_links(re.sub(r"<p>\s*</p>", "", text))

    def with_links(self, text):
        """Links the names of `linked` outside of links and code."""
        if not self.linked:
            return text
        names = "|".join(self.linked)
        pattern = re.compile(rf"<(a|code|pre|math)\b.*?</\1>|<[^>]*>|\b(?P<name>{names})(?P<plural>s?)\b", re.S)
        return pattern.sub(lambda found: found[0] if not found["name"] else
                           f'<a href="{self.linked[found["name"]]}">{found["name"]}</a>{found["plural"]}', text)

    def brief(self, element):
        """The first sentence, as text without links."""
        text = code_in_backticks(self.docs(element))
        text = re.sub(r"</?(a|p|ul|li|ol)\b[^>]*>", " ", text.partition("</p>")[0])
        text = re.sub(r"\s+", " ", text).strip()
        end = re.search(r"(?<!e\.g)(?<!i\.e)[.:](\s|$)(?![^<]*</code>)", text)
        return text[:end.start() + (text[end.start()] == ".")] if end else text

    def typed(self, element):
        found = element.find("type")
        text = self.inner(found) if found is not None else ""
        text = re.sub(r"&lt; | &gt;", lambda part: part[0].strip(), text)
        return re.sub(r" (&amp;|\*)", r"\1", text)

    def declaration(self, member):
        """HTML of a member's declaration, with links at its types."""
        element, name = member.element, f"<b>{escape(member.name)}</b>"
        if member.kind == "variable":
            value = spaced(element.findtext("initializer") or "")
            return f"{self.typed(element)} {name}{' ' if value.startswith('=') else ''}{escape(value)}"
        if member.kind == "typedef":
            return f"using {name} = {self.typed(element)}"
        if member.kind == "enum":
            return f"enum {name}"
        return self.function(element, name)

    def function(self, element, name):
        before = "".join(f"{word} " for word, key in (("static", "static"), ("explicit", "explicit"))
                         if element.get(key) == "yes")
        arguments = [self.argument(p) for p in element.findall("param")]
        suffix = (element.findtext("argsstring") or "").rpartition(")")[2].strip()
        before += "virtual " if element.get("virt") != "non-virtual" and "override" not in suffix else ""
        suffix = f" {suffix.replace('=0', '= 0').replace('=default', '= default').replace('=delete', '= delete')}".rstrip()
        typed = self.typed(element)
        head = f"{self.template(element)}{before}{typed}{' ' if typed else ''}{name}"
        line = f"{head}({', '.join(arguments)}){escape(suffix)}"
        if len(re.sub(r"<[^>]*>|&\w+;", "", line)) > LONG and len(arguments) > 1:
            return f"{head}(\n    " + ",\n    ".join(arguments) + f"){escape(suffix)}"
        return line

    def argument(self, param):
        text = self.typed(param)
        name = param.findtext("declname")
        if name:
            text += f" {escape(name)}"
        default = param.findtext("defval")
        return text + (f" = {escape(spaced(default))}" if default else "")

    def template(self, element):
        found = element.find("templateparamlist")
        if found is None:
            return ""
        return f"template &lt;{', '.join(self.argument(p) for p in found.findall('param'))}&gt;\n"


def code_in_backticks(text):
    return re.sub(r"`([^`<]+)`", r"<code>\1</code>", text)


def spaced(text):
    return re.sub(r"\s+", " ", text).strip()
