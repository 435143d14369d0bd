"""The public classes, functions and types in the XML of Doxygen, by header."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

SHOWN = ("public", "protected")


@dataclass
class Member:
    kind: str  # function, variable, typedef, enum, define
    name: str
    element: object
    access: str
    group: str = ""  # heading of a named group of functions
    group_docs: object = None  # the element with its text


@dataclass
class Compound:
    """A class, struct or union."""

    refid: str
    name: str  # without mezzo::
    kind: str
    header: str
    element: object
    bases: list = field(default_factory=list)  # (refid or None, text)
    members: list = field(default_factory=list)

    @property
    def is_options(self):
        return self.name.endswith("Options")


@dataclass
class Header:
    path: str  # mezzo/layers/core/dense.hpp
    compounds: list = field(default_factory=list)
    members: list = field(default_factory=list)

    @property
    def page(self):
        return self.path.removeprefix("mezzo/").removesuffix(".hpp").replace("/", "-")

    @property
    def folder(self):
        return self.path.removeprefix("mezzo/").rpartition("/")[0]

    @property
    def title(self):
        """The classes of the header, or its name."""
        names = [c.name for c in self.compounds if not c.is_options and "::" not in c.name]
        stem = self.path.rpartition("/")[2].removesuffix(".hpp")
        named = [name for name in names if name.lower() == stem.replace("_", "")]
        if named:
            return named[0]
        return ", ".join(names) if 0 < len(names) <= 3 and not self.members else stem


def is_hidden(name):
    return bool(re.search(r"(^|::)(detail|std)(::|$)|[<@]", name))


def members_of(compound):
    for section in compound.findall("sectiondef"):
        group, docs = (section.findtext("header") or "").strip(), section.find("description")
        for element in section.findall("memberdef"):
            access, name = element.get("prot"), element.findtext("name")
            if access in SHOWN and element.get("kind") != "friend" and name and not name.startswith("@"):
                yield Member(element.get("kind"), name, element, access, group, docs)


def header_of(element):
    location = element.find("location")
    return (location.get("declfile") or location.get("file") or "") if location is not None else ""


def read(folder):
    """Headers by path, with the classes and functions that stand in them."""
    headers, hidden = {}, ()
    for path in sorted(Path(folder).glob("*.xml")):
        if not path.name.startswith(("class", "struct", "union", "namespace")):
            continue
        compound = ET.parse(path).getroot().find("compounddef")
        name = compound.findtext("compoundname")
        if compound.get("kind") == "file" or is_hidden(name) or name.startswith(hidden):
            continue
        if compound.get("prot") == "private":
            hidden = (*hidden, f"{name}::")
            continue
        if compound.get("kind") == "namespace":
            for member in members_of(compound):
                header = header_of(member.element)
                headers.setdefault(header, Header(header)).members.append(member)
            continue
        header = header_of(compound)
        bases = [(base.get("refid"), base.text.replace("mezzo::", "")) for base in compound.findall("basecompoundref")
                 if base.get("prot") == "public"]
        found = Compound(compound.get("id"), name.removeprefix("mezzo::"), compound.get("kind"), header, compound, bases,
                         sorted(members_of(compound), key=line_of))
        headers.setdefault(header, Header(header)).compounds.append(found)
    for header in headers.values():
        header.compounds.sort(key=line_of)
        header.members.sort(key=line_of)
    return {path: header for path, header in headers.items() if path.startswith("mezzo/")}


def line_of(item):
    location = item.element.find("location")
    return int(location.get("declline") or location.get("line") or 0) if location is not None else 0
