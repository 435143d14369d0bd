#!/usr/bin/env python3
"""Writes the pages of the API reference from Doxygen's XML: one for each public header. api_pages.py XML_FOLDER OUTPUT

A struct of options stands before its class. Members that a class inherits are folded. Pages of folders list headers. A
member without docstring is a finding, unless it shares one or a rule has its text (api_docs.py). Classes and functions
link the texts of their errors in docs/errors.md (api_errors.py).
"""

import re
import sys
from html import escape
from pathlib import Path

import api_docs
import api_model
from api_errors import Errors
from api_text import Texts

FOLDERS = {
    "training": "Training", "layers": "Layers", "losses": "Losses", "metrics": "Metrics", "optimizers": "Optimizers",
    "initializers": "Initializers", "regularizers": "Regularizers", "constraints": "Constraints", "data": "Data",
    "datasets": "Data sets", "models": "Models", "precision": "Precision", "ops": "Ops", "graph": "Values and gradients",
    "nn": "Layers of your own", "report": "Reports and charts", "io": "Files", "core": "Tensors, errors, threads",
    "compiler": "Kernels of your own", "distributed": "Several processes", "onnx": "ONNX", "": "Headers that gather others"}


class Reference:
    def __init__(self, headers):
        self.headers = headers
        self.compounds = {c.refid: c for header in headers.values() for c in header.compounds}
        self.anchors, self.places, self.findings = {}, {}, []
        for header in headers.values():
            self.place(header)
        self.texts = Texts(self.address, self.error_classes())
        self.errors = Errors(self.anchors.values())

    def error_classes(self):
        """Addresses of the classes of errors, by name."""
        header = self.headers.get("mezzo/core/error.hpp")
        return {c.name: self.address(c.refid) for c in header.compounds} if header else {}

    def place(self, header):
        """Gives each class and member of a page an anchor of its own."""
        taken = set()

        def anchor(refid, wanted):
            wanted = re.sub(r"[^\w.:~-]", lambda sign: f"x{ord(sign[0]):x}", wanted.replace("::", "."))
            name, number = wanted, 2
            while name in taken:
                name, number = f"{wanted}-{number}", number + 1
            taken.add(name)
            self.anchors[refid], self.places[refid] = name, header.page

        for compound in header.compounds:
            anchor(compound.refid, compound.name)
            for member in compound.members:
                anchor(member.element.get("id"), f"{compound.name}.{member.name}")
        for member in header.members:
            anchor(member.element.get("id"), f"mezzo.{member.name}")  # a heading may have the bare name

    def address(self, refid):
        return f"{self.places[refid]}.html#{self.anchors[refid]}" if refid in self.places else None

    def docs(self, member, compound):
        """HTML of a member's docstring, or of the text that a rule has for it; "" if it has none."""
        docs = (self.texts.docs(member.element) or self.group_docs(member)
                or api_docs.text_by_rule(member, compound, self.link) or "")
        return docs + (self.enum_values(member.element) if member.kind == "enum" else "")

    def group_docs(self, member):
        """The text of the named group of a member, `@name`."""
        text = f"<p>{escape(member.group)}.</p>" if member.group else ""
        return text + (self.texts.inner(member.group_docs).strip() if text and member.group_docs is not None else "")

    def link(self, refid, text):
        address = self.address(refid)
        return f'<a href="{address}">{escape(text)}</a>' if address else f"<code>{escape(text)}</code>"

    def term(self, member):
        anchor = self.anchors[member.element.get("id")]
        return (f'<dt id="{anchor}"><code class="declaration">{self.texts.declaration(member)}</code>'
                f'<a class="headerlink" href="#{anchor}" aria-label="Link to {escape(member.name)}">#</a></dt>')

    def enum_values(self, element):
        rows = [f"<li><code>{escape(value.findtext('name'))}</code> {self.texts.docs(value)}</li>"
                for value in element.findall("enumvalue")]
        return f"<ul>{''.join(rows)}</ul>"

    def list_of(self, members, compound=None):
        """Members with their docstrings. Those that share one stand above it together."""
        entries = []  # [members, docs]
        for member in members:
            docs, before = self.docs(member, compound), entries[-1] if entries else None
            own = self.texts.docs(member.element)
            if before and not own and self.serves(before, member):
                before[0].append(member)
            elif before and not before[1] and api_docs.place(before[0][0].element) == api_docs.place(member.element):
                before[0].append(member)  # `int a, b;  ///<` has the text at b
                before[1] = docs
            else:
                entries.append([[member], docs])
        out = []
        for group, docs in entries:
            if not docs:
                self.findings += [f"{api_docs.place(m.element)[0]}: {m.name} has no docstring" for m in group]
            errors = self.errors.html([self.anchors[m.element.get("id")] for m in group])
            out.append("\n".join([*map(self.term, group), f"<dd>{docs}{errors}</dd>"]))
        # The search shows the text around a word, in which only line ends separate terms.
        return '<dl class="api">{}</dl>'.format("\n".join(out)) if members else ""

    def serves(self, entry, member):
        members, docs = entry
        if member.group and members[-1].group == member.group and not self.texts.docs(members[0].element):
            return True
        return bool(docs) and api_docs.follow(members[-1].element, member.element)

    def inherited(self, compound):
        """Members of the bases that the class doesn't declare itself, in one folded list for each base."""
        seen, out, todo = {member.name for member in compound.members}, [], [base for base, _ in compound.bases]
        while todo:
            base = self.compounds.get(todo.pop(0))
            if base is None:
                continue
            own = base.name.split("<")[0]
            members = [m for m in base.members if m.name not in seen and m.name not in (own, f"~{own}")
                       and not m.name.startswith("operator=")]
            seen |= {m.name for m in members}
            links = list(dict.fromkeys(f'<a href="{self.address(m.element.get("id"))}">{escape(m.name)}</a>'
                                       for m in {m.name: m for m in reversed(members)}.values()))
            if links:
                out.append(f"<details><summary>{len(links)} members of {escape(base.name)}</summary>"
                           f'<p class="inherited">{" ".join(reversed(links))}</p></details>')
            todo += [refid for refid, _ in base.bases]
        return "".join(out)

    def bases(self, compound):
        names = [f'<a href="{self.address(refid)}">{escape(text)}</a>' if self.address(refid) else escape(text)
                 for refid, text in compound.bases if not api_model.is_hidden(text) or "<" in text]
        names = [name for name in names if "detail" not in name]
        return f'<p class="bases">Derives from {", ".join(names)}.</p>' if names else ""

    def compound(self, compound):
        shown = [m for m in compound.members if not is_noise(m, compound)]
        public = [m for m in shown if m.access == "public"]
        protected = [m for m in shown if m.access == "protected"]
        docs = self.texts.docs(compound.element)
        if compound.is_options and not docs:
            docs = f"<p>{api_docs.options_text(compound.name)}</p>"
        if not docs:
            self.findings.append(f"{compound.header}: {compound.name} has no docstring")
        text = docs + self.errors.html([self.anchors[compound.refid]]) + self.bases(compound)
        text += self.list_of(public, compound)
        if protected:
            text += (f"<details><summary>{len(protected)} protected members</summary>"
                     f"{self.list_of(protected, compound)}</details>")
        text += self.inherited(compound)
        return f"## {compound.name}\n\n{raw(anchored(self, compound) + text)}"

    def page(self, header):
        folder = header.folder.split("/")[0]
        parts = [f"---\norphan: true\n---\n\n# {header.title}\n",
                 raw(f'<p class="crumbs"><a href="index.html">API</a> / <a href="{folder_page(folder)}.html">'
                     f"{escape(FOLDERS[folder])}</a></p>"),
                 f"```cpp\n#include <{header.path}>\n```\n"]
        parts += [self.compound(compound) for compound in options_first(header.compounds)]
        groups = {}
        for member in header.members:
            groups.setdefault(member.group, []).append(member)
        for group, members in groups.items():
            parts.append(f"## {group or 'Functions and types'}\n\n{raw(self.list_of(members))}")
        return "\n".join(parts)

    def summary(self, header):
        mains = [c for c in header.compounds if not c.is_options] or header.compounds
        if mains and header.title in (mains[0].name, *(c.name for c in mains)):
            return self.texts.brief(next((c for c in mains if c.name == header.title), mains[0]).element)
        names = list(dict.fromkeys([c.name for c in mains if "::" not in c.name] + [m.name for m in header.members]))
        return ", ".join(f"<code>{escape(name)}</code>" for name in names[:12]) + (" …" if len(names) > 12 else "")

    def folder(self, folder, headers):
        parts, by_folder = [f"# API: {FOLDERS[folder]}\n"], {}
        for header in headers:
            by_folder.setdefault(header.folder, []).append(header)
        for name, group in sorted(by_folder.items()):
            if len(by_folder) > 1 and name != folder:
                parts.append(f"## {name.removeprefix(folder + '/').replace('_', ' ').capitalize()}\n")
            rows = [f'<dt><a href="{header.page}.html">{escape(header.title)}</a></dt><dd>{self.summary(header)}</dd>'
                    for header in sorted(group, key=lambda header: header.title.lower())]
            parts.append(raw(f'<dl class="headers">{"".join(rows)}</dl>'))
        return "\n".join(parts)


def anchored(reference, compound):
    """An anchor with the capitals of the name; that of its heading is in lower case."""
    name = reference.anchors[compound.refid]
    return "" if name == name.lower() else f'<span id="{name}"></span>'


def is_noise(member, compound):
    """Copies, moves and destructors without a docstring."""
    documented = "".join(member.element.find("briefdescription").itertext()).strip()
    if documented or member.kind != "function":
        return False
    arguments = member.element.findtext("argsstring") or ""
    own = compound.name.rpartition("::")[2]
    return (member.name.startswith("~") or member.name == "operator=" or "=delete" in arguments
            or (member.name == own and re.match(rf"\((const )?{own} ?&", arguments) is not None))


def options_first(compounds):
    """Options directly before the class that takes them: DenseOptions, then Dense."""
    order = {c.name: n for n, c in enumerate(compounds)}
    return sorted(compounds, key=lambda c: (order.get(c.name.removesuffix("Options"), order[c.name]), not c.is_options,
                                            order[c.name]))


def folder_page(folder):
    return f"folder-{folder or 'all'}"


def raw(html):
    return "" if not html else f"```{{raw}} html\n{html}\n```\n"


def main():
    headers = {path: header for path, header in api_model.read(sys.argv[1]).items()
               if header.folder.split("/")[0] in FOLDERS}
    reference, out = Reference(headers), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for header in headers.values():
        (out / f"{header.page}.md").write_text(reference.page(header), encoding="utf-8")
    index = ["# API reference\n", "Each page is a public header, made from its docstrings. `mezzo/mezzo.hpp` includes "
             "nearly all of them. Search by a name, or choose a folder:\n", "```{toctree}\n:maxdepth: 1\n"]
    for folder in FOLDERS:
        found = [header for header in headers.values() if header.folder.split("/")[0] == folder]
        if found:
            (out / f"{folder_page(folder)}.md").write_text(reference.folder(folder, found), encoding="utf-8")
            index.append(f"{FOLDERS[folder]} <{folder_page(folder)}>")
    (out / "index.md").write_text("\n".join([*index, "```\n"]), encoding="utf-8")
    print(f"{len(headers)} headers, {len(reference.compounds)} classes")
    findings = [*reference.findings, *reference.errors.findings()]
    print("\n".join(findings), file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
