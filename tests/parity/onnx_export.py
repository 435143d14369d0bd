"""ONNX files that mezzo exports, compared with ONNX Runtime.

onnx_export.py PROGRAM [FILTER], with the build tree's tests/test_onnx as PROGRAM ("-": reads the files in the folder
MEZZO_ONNX_KEEP, where an earlier call left them): lets PROGRAM write the cases of its
suites exported_* into a folder: NAME.onnx, and NAME.npz with inputs and outputs of one or two batch sizes. Each file
must pass onnx.checker, each node must have operand types that its operator takes in the file's opset, and ONNX
Runtime's outputs must equal mezzo's. Files with bfloat16 run in onnx's reference implementation, since ONNX Runtime
lacks most operators for it on a CPU. FILTER: cases whose name contains it.

Needs onnx==1.23.2, onnxruntime==1.32.0, numpy==2.4.6, ml_dtypes==0.6.0.
"""

import collections
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

FLOAT32 = 1e-5  # largest difference from an output, relative to its largest number or 1
BOUNDS = {"bfloat16": 2 ** -6, "float16": 2 ** -9}
LACKING = "NOT_IMPLEMENTED"  # ONNX Runtime has no kernel of the operator for the type


def types_of(model):
    """Types of all values that onnx can infer: by name, "tensor(float)"."""
    graph = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True).graph
    names = {}
    for value in [*graph.input, *graph.output, *graph.value_info]:
        names[value.name] = value.type.tensor_type.elem_type
    for array in graph.initializer:
        names[array.name] = array.data_type
    return {name: "tensor(" + text_of(kind) + ")" for name, kind in names.items()}


def text_of(kind):
    name = onnx.TensorProto.DataType.Name(kind).lower()
    return {"float": "float"}.get(name, name)


def check_types(model):
    """An operand of a type that the operator doesn't take in this opset is an error."""
    version = model.opset_import[0].version
    types = types_of(model)
    for node in model.graph.node:
        schema = onnx.defs.get_schema(node.op_type, version, "")
        for place, name in enumerate(node.input):
            formal = schema.inputs[min(place, len(schema.inputs) - 1)]
            if name and name in types and types[name] not in formal.types:
                raise ValueError(f"{node.op_type} takes no {types[name]} as {formal.name} in opset {version}")


def uses(model, kind):
    arrays = [array.data_type for array in model.graph.initializer]
    casts = [a.i for node in model.graph.node if node.op_type == "Cast" for a in node.attribute]
    return kind in arrays + casts


def runner(path, model):
    if uses(model, onnx.TensorProto.BFLOAT16):
        return ReferenceEvaluator(model), [i.name for i in model.graph.input]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # Else products with a weight behind DequantizeLinear round their inputs to 8 bits.
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session, [i.name for i in session.get_inputs()]


def difference(given, expected):
    if given.dtype == ml_dtypes.bfloat16:
        given = given.astype(np.float32)
    if given.shape != expected.shape or given.dtype != expected.dtype:
        return f"got {given.dtype} {given.shape} for {expected.dtype} {expected.shape}"
    x, y = given.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isnan(x), np.isnan(y)):
        return "NaN differs"
    same = (x == y) | np.isnan(y)
    with np.errstate(invalid="ignore"):
        worst = np.where(same, 0, np.abs(x - y))
    scale = max(1.0, float(np.max(np.abs(y[np.isfinite(y)]), initial=0)))
    return float(np.max(worst, initial=0)) / scale


def compare(path):
    """"" if the case is equal, "lacking: ..." without a kernel of ONNX Runtime, otherwise the fault."""
    onnx.checker.check_model(str(path), full_check=True)
    model = onnx.load(str(path))
    check_types(model)
    arrays = np.load(path.with_suffix(".npz"))
    bound = FLOAT32
    for kind, one in [("bfloat16", onnx.TensorProto.BFLOAT16), ("float16", onnx.TensorProto.FLOAT16)]:
        if uses(model, one):
            bound = BOUNDS[kind]
    try:
        session, names = runner(path, model)
        for run in range(sum(key.endswith(".out.0") for key in arrays)):
            inputs = {name: arrays[f"{run}.in.{i}"] for i, name in enumerate(names)}
            for value in model.graph.input:
                if value.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16:
                    inputs[value.name] = inputs[value.name].astype(ml_dtypes.bfloat16)
            for i, output in enumerate(session.run(None, inputs)):
                found = difference(np.asarray(output), arrays[f"{run}.out.{i}"])
                if isinstance(found, str) or found > bound:
                    return f"run {run}, output {i}: {found}"
    except Exception as error:  # noqa: BLE001: any error of the runtime is the fault of this case
        return f"lacking: {str(error)[:200]}" if LACKING in str(error) else f"{type(error).__name__}: {str(error)[:300]}"
    return ""


def compared_alone(path):
    """Compares in a process of its own: a runtime that crashes is a fault of the case."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def run():
        try:
            sender.send(compare(path))
        except Exception as error:  # noqa: BLE001: of the checker
            sender.send(f"{type(error).__name__}: {str(error)[:300]}")

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return "the runtime crashed"
    finally:
        process.join()


def main(program, wanted):
    with tempfile.TemporaryDirectory() as folder:
        kept = os.environ.get("MEZZO_ONNX_KEEP", folder)
        Path(kept).mkdir(exist_ok=True)
        if program != "-":
            subprocess.run([program, "--run_test=exported_*"], env={**os.environ, "MEZZO_ONNX": kept}, check=True)
        counts = collections.Counter()
        faults = []
        for path in sorted(Path(kept).glob("*.onnx")):
            if wanted not in path.stem:
                continue
            kind = path.stem.split("_")[0]
            fault = compared_alone(path)
            state = "equal" if not fault else "lacking" if fault.startswith("lacking") else "faulty"
            counts[kind, state] += 1
            if fault:
                faults.append((state, f"{path.stem}: {fault}"))
        for state, text in sorted(faults):
            print(state, text)
        for (kind, state), count in sorted(counts.items()):
            print(f"{kind}: {count} {state}")
        return 1 if any(state == "faulty" for state, _ in faults) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""))
