"""Makes the tables of docs/catalogue.md: Keras' public names, ours, the kernels behind them, what is missing and why.

keras_names.json holds the names of Keras 3.15. A name is there if a public header declares it, or if OURS says how it
is written here; every other name needs a reason in MISSING, and a reason for a name that is there is an error.
"""

import json
import re
from functools import lru_cache
from pathlib import Path

from declarations import declarations
from ops_def import read_rows, with_includes

NAMES = Path(__file__).parent / "keras_names.json"

# Names that are written differently here.
OURS = {
    "ops": {
        "batch_normalization": "`batch_norm`",
        "convert_to_numpy": "`value.tensor()`", "custom_gradient": "`custom_gradient`", "dtype": "`x.dtype()`",
        "layer_normalization": "`layer_norm`", "get_item": "`x(i, slice(1, 3), all)`",
        "identity": "`eye(n)`",
        "is_tensor": "`Value`, `Tensor`: types are known to the compiler",
    },
    "activations": {name: f"`activations::{name}`" for name in ("exponential", "linear")},
    "initializers": {name: f"by name `\"{name}\"`" for name in (
        "constant", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity", "lecun_normal",
        "lecun_uniform", "orthogonal", "random_normal", "random_uniform", "truncated_normal",
        "variance_scaling", "zeros", "ones")},
    "optimizers": {"LossScaleOptimizer": "loss scaling is part of the policies ([precision.md](precision.md))"},
    "optimizers.schedules": {"LearningRateSchedule": "`Schedule`"},
    "callbacks": {"CallbackList": "`Callbacks`", "ProgbarLogger": "`.verbose` of `fit`"},
    "layers": {"InputLayer": "`Input`", "InputSpec": "checks in `build` and in the ops",
               "Pipeline": "`Sequential`; in the loader one `map` after the other"},
}

NEW_ARRAYS = {"arange", "array", "bartlett", "blackman", "empty", "eye", "full", "geomspace", "hamming", "hanning",
              "identity", "kaiser", "linspace", "logspace", "ones", "tri", "zeros"}
ON_HOST = {"lu_factor", "nextafter", "nonzero", "segment_prod", "unique"}

LOOPS = ("a step is a fixed list of kernels: loops and branches of C++ run while it is traced, `where` selects when it "
         "runs")
COMPLEX = "there are no complex numbers"
NAMES_OF_OTHERS = "wraps another framework"

# Names that are missing, with the reason.
MISSING = {
    "ops": {
        **dict.fromkeys(("associative_scan", "cond", "fori_loop", "map", "switch", "vectorize",
                         "vectorized_map", "while_loop"), LOOPS),
        **dict.fromkeys(("eig", "fft", "fft2", "ifft2", "imag", "irfft", "istft", "polar", "rfft", "stft",
                         "view_as_complex", "view_as_real"), COMPLEX),
        "jvp": "derivatives are computed backwards only: `grad`",
        "rearrange": "`reshape`, `transpose` and `einsum` do it without a language of their own",
        "view": "the bits of arrays are not shown as another dtype: `cast` converts",
        "saturate_cast": "`cast(clip(x, low, high), dtype)`",
    },
    "ops.image": {},
    "random": {"SeedGenerator": "`seed_everything` and the place of a call decide; `seed` fixes one call"},
    "activations": {},
    "layers": {
        **dict.fromkeys(("FlaxLayer", "JaxLayer", "TFSMLayer", "TorchModuleWrapper"), NAMES_OF_OTHERS),
        **dict.fromkeys(("MelSpectrogram", "STFTSpectrogram"), "needs the signal ops"),
        "MaxNumBoundingBoxes": "boxes are not changed with images",
    },
    "losses": {},
    "metrics": {},
    "optimizers": {"MultiOptimizer": "`groups` of an optimizer; several optimizers in a Module",
                   "OptimizerMap": "`groups` of an optimizer; several optimizers in a Module"},
    "optimizers.schedules": {},
    "initializers": dict.fromkeys(("STFT", "STFTInitializer", "stft"), "needs the signal ops"),
    "regularizers": {},
    "constraints": {},
    "callbacks": {"OrbaxCheckpoint": "the format of another framework: `ModelCheckpoint`",
                  "RemoteMonitor": "no network access; `LambdaCallback` can send"},
}
# Names that are to come: no reason is to be deleted when they do.
PENDING = {"ops": {"ctc_decode", "ctc_loss"}, "losses": {"CTC", "ctc"}, "callbacks": {"SwapEMAWeights"}}
NOT_YET = "not implemented yet"


class CatalogueError(ValueError):
    """A name of Keras that is neither declared nor has a reason, or both."""


class Catalogue:
    """Declarations and op rows of a tree."""

    def __init__(self, root):
        root = Path(root)
        self.rows = {row.name: row for row in read_rows(with_includes(root / "framework/mezzo/ops/rows/ops.def"))}
        self.declared = {name for name, row in self.rows.items() if row.macro == "MEZZO_UNARY_OP"}
        self.scoped = set()  # "random::normal"
        for header in sorted((root / "framework/mezzo").rglob("*.hpp")):
            text = header.read_text(encoding="utf-8")
            found = declarations(text)
            for namespace, name in found.functions | found.classes:
                if namespace == "mezzo":
                    self.declared.add(name)
                self.scoped.add(f"{namespace}::{name}")
            self.declared |= set(re.findall(r"^using (\w+) = ", text, re.M))
        backends = root / "framework/mezzo/backends"
        self.xsimd = self.quoted(backends / "xsimd", r'"(\w+)"')
        self.onednn = self.quoted(backends / "onednn", r"&ops::(\w+)")

    def quoted(self, folder, pattern):
        found = set()
        for path in folder.rglob("*"):
            if path.suffix in (".cpp", ".hpp"):
                found |= set(re.findall(pattern, path.read_text(encoding="utf-8")))
        return found & set(self.rows)

    def ours(self, family, name):
        """How the name is written here, or None."""
        if name in OURS.get(family, {}):
            return OURS[family][name]
        scopes = {"random": "random", "ops.image": "image", "losses": "losses", "metrics": "metrics",
                  "initializers": "initializers"}
        scope = scopes.get(family)
        if scope and f"mezzo::{scope}::{name}" in self.scoped:
            return f"`{scope}::{name}`"
        return f"`{name}`" if name in self.declared and family not in ("random", "ops.image") else None

    def kernels(self, family, name):
        """Kernels for float32, for bfloat16 and float16, for float64; composition if the name is no op."""
        row = None if name in NEW_ARRAYS else self.rows.get({"conv": "conv2d", "average_pool": "avg_pool2d",
                             "max_pool": "max_pool2d",
                             "batch_normalization": "batch_norm", "layer_normalization": "layer_norm",
                             "concatenate": "concat", "dot_product_attention": "scaled_dot_product_attention",
                             "absolute": "abs", "fabs": "abs", "amax": "max", "amin": "min",
                             "true_divide": "divide", "remainder": "mod"}.get(name, name))
        if row is None or (row.macro == "MEZZO_ALIAS_OP" and row.inputs == "x: T"):  # a name for op lists alone
            return ["new array" if name in NEW_ARRAYS else "host" if name in ON_HOST else "composition", "", ""]
        fast = [kind for kind, names in (("oneDNN", self.onednn), ("xsimd", self.xsimd)) if row.name in names]
        narrow = fast + (["widened"] if "WIDEN" in row.flags and "xsimd" not in fast else [])
        return [", ".join(fast) or "reference", ", ".join(narrow) or "reference", "reference"]

    def lines(self, family):
        for name in json.loads(NAMES.read_text(encoding="utf-8"))[family]:
            if name in ("get", "serialize", "deserialize"):
                continue
            ours = self.ours(family, name)
            pending = family == "layers" or name in PENDING.get(family, ())
            reason = MISSING[family].get(name, NOT_YET if pending else None)
            if ours is None and reason is None:
                raise CatalogueError(f"keras.{family}.{name} is not declared and has no reason in catalogue.py")
            if ours is not None and name in MISSING[family]:
                raise CatalogueError(f"keras.{family}.{name} is declared and has a reason in catalogue.py; delete it")
            yield name, ours, reason


def tables(table):
    """(name of the generated part, function of the root that returns its text) for each family."""
    catalogue_of = lru_cache(maxsize=1)(Catalogue)  # one reading of a tree serves all families
    for family in json.loads(NAMES.read_text(encoding="utf-8")):
        yield family, lambda root, family=family: family_tables(table, root, family, catalogue_of)


def family_tables(table, root, family, catalogue_of):
    if not (Path(root) / "framework/mezzo/mezzo.hpp").is_file():  # a part of the tree
        return None
    catalogue = catalogue_of(root)
    lines = list(catalogue.lines(family))
    there = [(name, ours) for name, ours, _ in lines if ours is not None]
    missing = [(name, reason) for name, ours, reason in lines if ours is None]
    kernels = family in ("ops",)
    head = ["Keras", "mezzo"] + (["float32", "bfloat16, float16", "float64"] if kernels else [])
    text = f"{len(there)} of {len(lines)} names.\n\n"
    text += table(head, [[f"`{name}`", ours, *(catalogue.kernels(family, name) if kernels else [])]
                         for name, ours in there])
    if missing:
        by_reason = {}
        for name, reason in missing:
            by_reason.setdefault(reason, []).append(f"`{name}`")
        text += "\n" + table(["missing", "reason"],
                             [[", ".join(names), reason] for reason, names in by_reason.items()])
    return text
