#!/usr/bin/env python3
"""Checks that the recipes of packages and the changelog have the version of version.hpp. check_versions.py ROOT

The exit code is 1 if there is any finding.
"""

import json
import re
import sys
from pathlib import Path

# Files with the pattern of their version.
TEXTS = {
    "framework/packaging/conan/conanfile.py": r'^    version = "([^"]+)"$',
    "framework/packaging/conda/recipe.yaml": r'^  version: "([^"]+)"$',
    "docs/changelog.md": r"^## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$",  # the first, the last release
    "docs/contributing.md": r"^5\. Tag .*`git tag -a v([0-9.]+) ",
}
# Fields of vcpkg's manifest that a port needs.
MANIFEST = ("name", "version", "description", "license", "supports", "dependencies")


def version_of_header(root):
    header = (root / "framework/mezzo/core/version.hpp").read_text(encoding="utf-8")
    return ".".join(re.findall(r"^#define MEZZO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M))


def findings(root):
    expected = version_of_header(root)
    manifest = json.loads((root / "framework/packaging/vcpkg/vcpkg.json").read_text(encoding="utf-8"))
    found = [("framework/packaging/vcpkg/vcpkg.json", manifest.get("version"))]
    for path, pattern in TEXTS.items():
        match = re.search(pattern, (root / path).read_text(encoding="utf-8"), re.M)
        found.append((path, match and match[1]))
    lines = [f"{path}: version {version}, version.hpp has {expected}" for path, version in found if version != expected]
    return lines + [f"framework/packaging/vcpkg/vcpkg.json: no field {name}" for name in MANIFEST if name not in manifest]


def main():
    lines = findings(Path(sys.argv[1]))
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
