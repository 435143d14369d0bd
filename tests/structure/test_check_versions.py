"""Tests of check_versions.py."""

import json
import tempfile
import unittest
from pathlib import Path

from check_versions import findings


class CheckVersions(unittest.TestCase):
    def tree(self, conda="1.2.3", manifest=None):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        fields = {"name": "m", "version": "1.2.3", "description": "", "license": "", "supports": "", "dependencies": []}
        files = {
            "framework/mezzo/core/version.hpp":
                "#define MEZZO_VERSION_MAJOR 1\n#define MEZZO_VERSION_MINOR 2\n#define MEZZO_VERSION_PATCH 3\n",
            "framework/packaging/conan/conanfile.py": '    version = "1.2.3"\n',
            "framework/packaging/conda/recipe.yaml": f'  version: "{conda}"\n',
            "framework/packaging/vcpkg/vcpkg.json": json.dumps(fields if manifest is None else manifest),
            "docs/changelog.md": "## Unreleased\n\n## 1.2.3 - 2026-01-01\n\n## 1.2.2 - 2025-01-01\n",
            "docs/contributing.md": "5. Tag this: `git tag -a v1.2.3 -m`\n",
        }
        for name, text in files.items():
            path = Path(folder.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Path(folder.name)

    def test_equal_versions_are_no_finding(self):
        self.assertEqual(findings(self.tree()), [])

    def test_another_version_is_named(self):
        self.assertEqual(findings(self.tree(conda="1.2.2")),
                         ["framework/packaging/conda/recipe.yaml: version 1.2.2, version.hpp has 1.2.3"])

    def test_missing_fields_of_the_manifest_are_named(self):
        lines = findings(self.tree(manifest={"name": "m", "version": "1.2.3"}))
        self.assertIn("framework/packaging/vcpkg/vcpkg.json: no field license", lines)


if __name__ == "__main__":
    unittest.main()
