"""Files of Keras in both directions: every layer class in a small model, functional graphs, optimizers with their state.

keras_files.py PROGRAM, with the build tree's tests/test_training_keras_files as PROGRAM:
1. Keras saves each model as keras.keras, with inputs and outputs, and for compiled models the next 10 losses.
2. PROGRAM loads each file, compares outputs and losses, and saves the model again as mezzo.keras.
3. Keras loads mezzo.keras and compares outputs and losses.

keras_files.py --record: writes recorded/keras_files with some of the cases, files of Keras 2, and odd HDF5 files, for
the tests. It also needs tf_keras.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3")

import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras_hdf5 import record_hdf5, record_keras_2  # noqa: E402
from keras_models import flat, inputs_of, models  # noqa: E402

# Layers whose outputs differ from Keras' in inference, as docs/keras.md says.
DIFFERENT = ["random_crop", "spectral_normalization"]
# Files that Keras writes, but can't open: a layer is shared with a model inside the model.
READ_ONLY = ["shared_encoder", "shared_inside"]
RECORDED = Path(__file__).parent / "recorded" / "keras_files"
STEPS = 10  # losses after loading
SMALL = ["dense", "graph", "shared", "adam", "bidirectional", "mixed_bfloat16", "named_outputs", "open_dropout",
         "op_clip", "op_get_item_of_open", "op_pad", "op_take", "op_where", "shared_encoder", "shared_inside"]  # recorded


def outputs_of(model, inputs):
    outputs = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0, batch_size=len(inputs[0]))
    if isinstance(outputs, dict):
        outputs = [outputs[name] for name in sorted(outputs)]
    return [np.asarray(y).astype("float32") for y in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]


def next_losses(model, data):
    return [float(np.asarray(model.train_on_batch(*data, return_dict=True)["loss"])) for _ in range(STEPS)]


def write_case(folder, model):
    folder.mkdir(parents=True)
    inputs = list(getattr(model, "fixed_inputs", ())) or inputs_of(model, np.random.default_rng(7), 2)
    arrays = {f"x{i}": x for i, x in enumerate(inputs)}
    if folder.name not in DIFFERENT:
        arrays |= {f"y{i}": y for i, y in enumerate(outputs_of(model, inputs))}
    model.save(folder / "keras.keras")
    if folder.name in READ_ONLY:
        (folder / "read_only.txt").write_text("Keras can't open it.\n")
    if hasattr(model, "fixed_data"):
        data = [list(part) if isinstance(part, (list, tuple)) else part for part in model.fixed_data]
        arrays |= {f"train_x{i}": x for i, x in enumerate(flat(data[0]))}
        arrays |= {f"train_y{i}": y for i, y in enumerate(flat(data[1]))}
        arrays["losses"] = np.array(next_losses(model, data))
    np.savez(folder / "expected.npz", **arrays)


def lists(arrays, prefix):
    out = [arrays[f"{prefix}{i}"] for i in range(len(arrays)) if f"{prefix}{i}" in arrays]
    return out if len(out) > 1 else out[0]


def check_back(folder):
    """Problems of mezzo.keras in Keras."""
    path = folder / "mezzo.keras"
    if folder.name in READ_ONLY:
        return []
    if not path.exists():
        return ["not written"]
    arrays = dict(np.load(folder / "expected.npz"))
    model = keras.models.load_model(path)
    problems = []
    tolerance = 2e-2 if "bfloat16" in folder.name else 1e-5
    for i, y in enumerate(outputs_of(model, flat(lists(arrays, "x")))):
        if folder.name in DIFFERENT:
            continue
        worst = np.max(np.abs(y - arrays[f"y{i}"])) / max(1, np.max(np.abs(arrays[f"y{i}"])))
        if not worst <= tolerance:
            problems.append(f"output {i} differs by {worst}")
    if "losses" in arrays:
        got = next_losses(model, (lists(arrays, "train_x"), lists(arrays, "train_y")))
        worst = np.max(np.abs(np.array(got) - arrays["losses"]) / np.maximum(1, np.abs(arrays["losses"])))
        if not worst <= 1e-4:
            problems.append(f"losses differ by {worst}: {got[:3]}, {arrays['losses'][:3]}")
    return problems


def count_problems(cases):
    """How many of the cases have problems when Keras loads the files that mezzo has written. Prints each problem."""
    bad = 0
    for path in cases:
        try:
            problems = check_back(path)
        except Exception as error:  # of any kind: Keras can't load the file
            problems = [f"{type(error).__name__}: {str(error)[:600]}"]
        bad += bool(problems)
        for problem in problems:
            print(f"{path.name}: {problem}")
    return bad


def compare(program, only):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get("KEEP", temporary))
        shutil.rmtree(folder, ignore_errors=True)
        cases = models()
        for name, model in cases.items():
            if not only or name in only:
                write_case(folder / name, model)
        run = subprocess.run([program, "--run_test=keras_files/files_of_keras_are_read_and_written"],
                             env={**os.environ, "MEZZO_KERAS_FILES": str(folder)})
        bad = count_problems(sorted(folder.iterdir()))
        print(f"{len(list(folder.iterdir()))} files, {bad} with problems in Keras, program returned {run.returncode}")
        sys.exit(bool(bad) or run.returncode)


def record():
    shutil.rmtree(RECORDED, ignore_errors=True)
    cases = models()
    for name in SMALL:
        write_case(RECORDED / name, cases[name])
    for name in ("adam", "graph"):
        saved = keras.models.load_model(RECORDED / name / "keras.keras")
        saved.save_weights(RECORDED / name / "keras.weights.h5")
    record_keras_2(RECORDED)
    record_hdf5(RECORDED / "hdf5")
    print(f"keras_files: {sum(p.stat().st_size for p in RECORDED.rglob('*.*'))} bytes, Keras {keras.__version__}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    record() if sys.argv[1] == "--record" else compare(sys.argv[1], sys.argv[2:])
