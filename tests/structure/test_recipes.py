#!/usr/bin/env python3
"""Follows the recipes of docs/architecture.md in a copy of the tree: counts the files that an op and an optimizer cost,
and shows that no check asks for another one. Files that scripts write (docs, recorded names) don't count."""

import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_limits import check_limits  # noqa: E402
from check_tree import check_tree, list_files  # noqa: E402
from exceptions import EXCEPTIONS  # noqa: E402
from generate_docs import check_blocks, check_paths, generate  # noqa: E402
from public_names import LIST, public_names  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "framework/mezzo/"


def findings(root):
    """Findings of the checks that read texts, without the numbers of their lines."""
    limits = check_limits(root, EXCEPTIONS)
    tree, _ = check_tree(root)
    docs = [*generate(root, write=False), *check_blocks(root), *check_paths(root)]
    return {(str(where).split(":")[0], str(rule)) for where, rule in [*limits, *docs]} | \
        {(path, rule) for path, _, rule in tree}


def steps_of(title):
    """Numbers of steps in a recipe."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    recipe = text.split(f"\n### {title}\n")[1].split("\n### ")[0]
    return len(re.findall(r"^(?:- )?\*\*\d\. ", recipe, re.M))


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.before = findings(ROOT)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.touched = Path(folder.name), set()
        for name in list_files(ROOT):
            if name.endswith((".npz", ".png", ".bin")):
                continue
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, self.root / name)

    def create(self, path, text):
        self.touched.add(path)
        self.assertFalse((self.root / path).exists())
        (self.root / path).write_text(text, encoding="utf-8")

    def insert(self, path, before, text):
        self.touched.add(path)
        old = (self.root / path).read_text(encoding="utf-8")
        self.assertEqual(old.count(before), 1, (path, before))
        (self.root / path).write_text(old.replace(before, text + before), encoding="utf-8")

    def expect(self, title):
        """No check has a new finding, after the scripts have written what they make."""
        list(generate(self.root, write=True))
        names = sorted(f"{kind} {name}\n" for kind, name in public_names(self.root))
        (self.root / LIST).write_text("".join(names), encoding="utf-8")
        self.assertEqual(findings(self.root) - self.before, set())
        self.assertEqual(len(self.touched), steps_of(title), self.touched)

    def test_op(self):
        self.create(LIBRARY + "ops/plateau.cpp", (ROOT / LIBRARY / "ops/softplus.cpp").read_text().replace(
            "softplus", "plateau"))
        self.insert(LIBRARY + "ops/rows/elementwise.def", "/// a to the power of b.\n",
                    '/// x up to 1, and 1 beyond.\nMEZZO_UNARY_OP(plateau, WIDEN | CHAIN, "x: T", "", "T")\n\n')
        self.insert(LIBRARY + "backends/reference/activations.cpp",
                    "std::unique_ptr<Kernel> create_softplus(",
                    "std::unique_ptr<Kernel> create_plateau(const KernelRequest& request, std::string& reason) {\n"
                    "  return in_double<1>(request, reason, [](double x) { return x > 1 ? 1 : x; });\n}\n\n")
        self.insert(LIBRARY + "backends/xsimd/chain.isa.cpp", '    {.op = "power"',
                    '    {.op = "plateau", .step = unary<Plateau>},\n')
        self.insert("tests/ops/activations.hpp", '  rows.push_back(unary_row("softplus"',
                    '  rows.push_back(unary_row("plateau", mezzo::plateau, x, [](double v) { return v; }));\n')
        self.expect("An op")

    def test_optimizer(self):
        header = (ROOT / LIBRARY / "optimizers/adamax.hpp").read_text().replace("Adamax", "Slowmax")
        self.create(LIBRARY + "optimizers/slowmax.hpp", header)
        self.insert(LIBRARY + "optimizers/moment_optimizers.cpp", "Nadam::Nadam(",
                    "Slowmax::Slowmax(const SlowmaxOptions& options) : Optimizer(\"Slowmax\", common_options(options)) "
                    "{}\n\n")
        self.insert(LIBRARY + "optimizers/classes.cpp", '          named<Nadam, NadamOptions>("Nadam"),',
                    '          named<Slowmax, SlowmaxOptions>("Slowmax"),\n')
        self.insert(LIBRARY + "mezzo.hpp", "#include <mezzo/optimizers/sgd.hpp>",
                    "#include <mezzo/optimizers/slowmax.hpp>\n")
        self.expect("An optimizer")

    def test_rule_is_named_once_for_all_tables(self):
        """A rule is named by its row and its three functions."""
        places = {name for name in list_files(ROOT)
                  if name.startswith((LIBRARY + "ops/", LIBRARY + "compiler/", LIBRARY + "backends/"))
                  and re.search(r"adamax", (ROOT / name).read_text(encoding="utf-8"), re.I)}
        self.assertEqual(places, {LIBRARY + "ops/rows/update_rules.def", LIBRARY + "backends/common/update_rules.cpp",
                                  LIBRARY + "backends/reference/update_rules.hpp",
                                  LIBRARY + "backends/xsimd/update_rules.isa.cpp"})


if __name__ == "__main__":
    unittest.main()
