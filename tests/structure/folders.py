"""The folders of the library: the idea of each in one line, and the folders that it may use.

check_tree.py (includes), check_symbols.py (what is linked) and generate_docs.py (docs/architecture.md) read this table.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOTS = ("framework", "models", "datasets")  # <mezzo/...> is a path below one of them


class Folder(NamedTuple):
    """One entry. It covers its sub-folders, except those with an entry of their own."""

    idea: str
    uses: tuple = ()         # entries that it may use, and with each of them all that those may use
    only_public: tuple = ()  # of these folders, "*" for all, it may use public headers alone


FOLDERS = {
    "core": Folder("dtypes, shapes, tensors, random numbers, threads, memory, instruction sets, errors"),
    "io": Folder("files: safetensors, PyTorch's, NumPy's, HDF5, CSV, gzip, zip, IDX", ("core",)),
    "data": Folder("data sets, samplers, loaders", ("io",)),
    "data/text": Folder("tokenizers", ("io", "data")),
    "data/tables": Folder("tables of named columns, read from CSV", ("io", "data", "data/text")),
    "data/image": Folder("pictures from and to files, and their transforms", ("io", "data")),
    "precision": Folder("policies, policy maps, autocast, loss scale", ("core",)),
    "graph": Folder("values, nodes, scopes, traces", ("precision",)),
    "ops": Folder("one file an op, with its checks and gradient; op lists", ("graph", "io")),
    "compiler": Folder("passes, memory, plans, the kernel interface", ("ops",)),
    "nn": Folder("variables, layers, functional graphs, the bases of all families, weight files",
                 ("ops", "data", "io")),
    "backends/common": Folder("code shared by several kinds of kernels; widening", ("compiler",)),
    "backends/reference": Folder("plain kernels of all ops, the oracle for the others", ("backends/common",)),
    "backends/xsimd": Folder("vectorized kernels, compiled per instruction set", ("backends/common",)),
    "backends/onednn": Folder("kernels that call oneDNN; split products use kernels of xsimd", ("backends/xsimd",)),
    "backends": Folder("the table of all kernels; widening: 16-bit operands computed as float32",
                       ("backends/reference", "backends/onednn")),
    "initializers": Folder("initial values of weights, one class a header", ("nn",)),
    "regularizers": Folder("penalties on weights and outputs", ("nn",)),
    "constraints": Folder("projections of weights after updates", ("nn",)),
    "losses": Folder("training objectives, one class a header", ("nn",)),
    "metrics": Folder("evaluation measures, one class a header", ("losses",)),
    "optimizers": Folder("optimizers and learning-rate schedules, one class a header", ("nn",)),
    "layers": Folder("layers, one class a header", ("initializers", "data/text", "data/image", "data/tables")),
    "distributed": Folder("ranks that train together: sums over threads or processes, a plug-in for MPI", ("core",)),
    "training/module": Folder("Module, batches, logs; the bases of callbacks, loggers and profilers",
                              ("nn", "distributed")),
    "training/loggers": Folder("CSV and TensorBoard loggers", ("training/module", "data/image")),
    "training/profilers": Folder("profilers; the text of a plan with its times", ("training/module", "compiler")),
    "training/ranks": Folder("steps of several ranks: strategies, sums of gradients, shards",
                             ("training/module", "compiler")),
    "training/step": Folder("training steps: context, traces, plans, minimize, loss scaling", ("training/ranks",)),
    "training/checkpoints": Folder("checkpoints of trainings", ("training/step",)),
    "training/custom_loops": Folder("training loops of one's own: compiled steps, loss scaling, their checkpoints",
                                    ("training/checkpoints",)),
    "training/loops": Folder("fit, epochs, evaluation, limits, progress bars",
                             ("training/checkpoints", "training/loggers")),
    "training/predictor": Folder("immutable snapshots of modules, run by several threads", ("training/step",)),
    "training/model": Folder("Model, Sequential, compile, Predictor; model files",
                             ("training/loops", "training/profilers", "training/predictor", "layers", "losses")),
    "training/keras_files": Folder("models and weights from and to Keras' files", ("training/model", "optimizers")),
    "training/callbacks": Folder("callbacks, one class a header", ("training/model",)),
    "training/trainer": Folder("Trainer, with its options and checks", ("training/callbacks",)),
    "report/display": Folder("charts, images and tables as notebooks show them", ("training/module", "data/image")),
    "report": Folder("precision reports, hardware, environment", ("training/step", "report/display", "datasets"),
                     ("report/display",)),
    "onnx": Folder("models to and from ONNX files; a library of its own", ("training/model",)),
    "c": Folder("the C interface; a library of its own", ("training/model",)),
    "cli": Folder("the `mezzo` command", ("report", "training/trainer", "models", "optimizers", "onnx")),
    "datasets": Folder("readers of well-known data sets", ("data/text", "data/image")),
    "models": Folder("well-known models, written against public headers", ("training/model",), ("*",)),
    "models/pretrained": Folder("models from and to folders of Hugging Face", ("models",)),
}

# Files above all folders: they may use everything, and no folder may use them.
TOP_FILES = ("framework/mezzo/mezzo.hpp", "framework/mezzo/xtensor.hpp", "framework/mezzo/eigen.hpp",
             "framework/mezzo/opencv.hpp", "framework/mezzo/onnx.hpp", "framework/mezzo/registration.cpp",
             "framework/mezzo/report/display/notebook.hpp")

# Private headers that every folder may include: checks of arguments and error texts.
ERROR_HEADERS = ("framework/mezzo/core/fail.hpp", "framework/mezzo/nn/checks.hpp")

# Private headers that models may include all the same: a scope for a member, eager ops inside a traced call,
# logits of tied embeddings.
MODEL_HEADERS = ("framework/mezzo/core/scoped_value.hpp", "framework/mezzo/graph/trace.hpp",
                 "framework/mezzo/nn/weight_product.hpp",
                 "framework/mezzo/nn/tied_product.hpp")

# A public header is one that these include, directly or through others.
GATHERING_HEADERS = ("mezzo/mezzo.hpp", "mezzo/xtensor.hpp", "mezzo/eigen.hpp", "mezzo/opencv.hpp",
                     "mezzo/onnx.hpp", "mezzo/report/display/notebook.hpp")


def folder_of(path):
    """The folder in which a file of the library lies: framework/mezzo/core/x.hpp -> core; None outside of it."""
    match = re.match(r"(?:%s)/mezzo/(.+)/[^/]*$" % "|".join(ROOTS), path)
    return match[1] if match and path not in TOP_FILES else None


def entry_of(folder, folders=None):
    """The entry that covers a folder: backends/xsimd/winograd -> backends/xsimd; None if there is none."""
    folders = FOLDERS if folders is None else folders
    parts = folder.split("/")
    names = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in names if name in folders), None)


def allowed(entry, folders=None):
    """All entries that an entry may use, itself among them."""
    folders = FOLDERS if folders is None else folders
    found, todo = set(), [entry]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += folders[one].uses
    return found


def direct_uses(entry, folders=None):
    """The entries that an entry uses and that no other of its uses brings along: the arrows of a drawing."""
    folders = FOLDERS if folders is None else folders
    uses = folders[entry].uses
    return [one for one in uses if not any(one != other and one in allowed(other, folders) for other in uses)]


def find_header(root, name):
    """The path in the tree of <mezzo/...>, or None."""
    return next((f"{top}/{name}" for top in ROOTS if (Path(root) / top / name).is_file()), None)
