"""Records small .npy and .npz files of numpy's, with the elements that they hold, and files that mezzo refuses."""

import io
import json
from pathlib import Path

import numpy as np

DTYPES = ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "bool"]
SHAPES = [(), (1,), (3,), (2, 3), (2, 1, 3), (0,), (0, 3), (2, 0), (1,) * 30 + (2,)]


def numbers(dtype, shape):
    count = int(np.prod(shape))
    if dtype == "bool":
        return (np.arange(count) % 3 == 1).reshape(shape)
    if dtype == "uint8":
        return (np.arange(count) * 37 + 200).astype(dtype).reshape(shape)
    return (np.arange(count) * 37 - 50).astype(dtype).reshape(shape)


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version, allow_pickle=True)
    return out.getvalue()


def npz(save, **arrays):
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def described(array):
    return {"dtype": str(array.dtype), "shape": list(array.shape), "elements": array.tobytes(order="C").hex()}


def arrays():
    for dtype in DTYPES:
        yield dtype, numbers(dtype, (2, 3))
        yield f"{dtype} in Fortran order", np.asfortranarray(numbers(dtype, (2, 3, 4)))
    for shape in SHAPES:
        yield f"shape {shape}", numbers("int16", shape)
    for dtype in ["float32", "float64", "float16"]:
        least = np.finfo(dtype).smallest_subnormal
        yield f"special values of {dtype}", np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, least], dtype)


def refused():
    for dtype in [">f4", ">i8", "<u2", "<u4", "<u8", "<c8", "<U3", "|S3", "<M8[s]", "<f16"]:
        yield dtype, np.zeros((2,), dtype)
    yield "object", np.array([1, "a"], object)
    yield "structured", np.zeros((2,), [("a", "<f4"), ("b", "<i4")])


def main():
    cases = {"arrays": {}, "archives": {}, "refused": {}}
    for name, array in arrays():
        cases["arrays"][name] = {"file": npy(array).hex(), **described(array)}
    for version in [(2, 0), (3, 0)]:
        array = numbers("float32", (2, 3))
        cases["arrays"]["version %d.%d" % version] = {"file": npy(array, version).hex(), **described(array)}
    for name, array in refused():
        cases["refused"][name] = npy(array).hex()
    content = {"x": numbers("float32", (2, 3)), "größe": numbers("int64", (3,)), "columns": np.asfortranarray(
        numbers("float64", (2, 2))), "a/b": np.array(True), "zeros": np.zeros((40, 40), np.uint8)}
    for name, save, entries in [("stored", np.savez, content), ("deflated", np.savez_compressed, content),
                                ("empty", np.savez, {})]:
        cases["archives"][name] = {"file": npz(save, **entries).hex(),
                                   "arrays": {key: described(array) for key, array in entries.items()}}
    path = Path(__file__).parent / "recorded" / "npy.json"
    groups = []
    for group, entries in cases.items():
        lines = [f"{json.dumps(key)}: {json.dumps(entry, separators=(',', ':'))}" for key, entry in entries.items()]
        groups.append(json.dumps(group) + ": {\n" + ",\n".join(lines) + "\n}")
    path.write_text("{\n" + ",\n".join(groups) + "\n}\n")
    print(f"{path.name}: {path.stat().st_size} bytes, numpy {np.__version__}")


main()
