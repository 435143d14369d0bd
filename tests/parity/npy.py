"""Records small .npy and .npz files of numpy's, with the elements that they hold, and files that mezzo refuses."""

import io
import json
import zipfile
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
    array = array.astype(array.dtype.newbyteorder("<"))
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


def big_endian():
    for dtype in DTYPES:
        yield f"big-endian {dtype}", numbers(dtype, (2, 3)).astype(np.dtype(dtype).newbyteorder(">"))
    yield "big-endian float32 in Fortran order", np.asfortranarray(numbers("float32", (2, 3, 4)).astype(">f4"))


def structured():
    point = np.dtype([("x", "<f4"), ("y", ">i2")])
    fields = [("id", "<i8"), ("name", "<U3"), ("position", point), ("pixels", "u1", (2, 3)), ("old", "<u2"),
              (("A title", "flag"), "?"), ("points", point, (2,))]
    for name, shape, dtype in [("packed", (4,), np.dtype(fields)), ("aligned", (2, 3), np.dtype(fields, align=True)),
                               ("empty", (0,), np.dtype(fields)), ("scalar", (), np.dtype(fields))]:
        array = np.zeros(shape, dtype)
        array["id"] = numbers("int64", shape)
        array["position"]["x"] = numbers("float32", shape)
        array["position"]["y"] = numbers("int16", shape)
        array["pixels"] = numbers("uint8", shape + (2, 3))
        array["flag"] = numbers("bool", shape)
        yield name, array, {"id": array["id"], "position.x": array["position"]["x"],
                            "position.y": array["position"]["y"], "pixels": array["pixels"], "flag": array["flag"]}
    columns = np.asfortranarray(np.zeros((2, 3), [("a", "<i4"), ("b", "<f8")]))
    columns["a"], columns["b"] = numbers("int32", (2, 3)), numbers("float64", (2, 3))
    yield "columns", columns, {"a": columns["a"], "b": columns["b"]}


def unsigned():
    for dtype, wide in [("<u2", "int32"), (">u2", "int32"), ("<u4", "int64"), (">u4", "int64"), ("<u8", "int64"),
                        (">u8", "int64")]:
        most = min(np.iinfo(dtype).max, 2 ** 63 - 1)
        array = np.array([[0, 1], [most - 1, most]], dtype)
        yield dtype, array, array.astype(wide)


def refused():
    for dtype in ["<c8", "<c16", "<f16", "<U3", "|S3", "<M8[s]", "|V5"]:
        yield dtype, np.zeros((2,), dtype)
    yield "object", np.array([1, "a"], object)


class Stream(io.BytesIO):
    """A file without seek(), after whose entries zipfile writes their sizes."""

    def seekable(self):
        return False


def other_archives():
    x, y = numbers("float32", (2, 3)), numbers("int16", (4,))
    yield "mixed", npz(np.savez, x=x, names=np.array(["a", "b"]), objects=np.array([None, 1], object),
                       records=np.zeros(2, [("a", "<f4")]), y=y), {"x": x, "y": y}
    for name, out, limit in [("zip64", io.BytesIO(), 10), ("streamed", Stream(), zipfile.ZIP64_LIMIT)]:
        whole, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, limit
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.comment = b"PK\x05\x06 is no end"
            archive.writestr("folder/", b"")
            archive.writestr("README.txt", b"not an array")
            archive.writestr("x.npy", npy(x))
            archive.writestr("y.npy", npy(y), zipfile.ZIP_STORED)
        zipfile.ZIP64_LIMIT = whole
        yield name, out.getvalue(), {"x": x, "y": y}


def main():
    cases = {"arrays": {}, "structured": {}, "archives": {}, "refused": {}, "refused archives": {}}
    for name, array in arrays():
        cases["arrays"][name] = {"file": npy(array).hex(), **described(array)}
    for name, array in big_endian():
        cases["arrays"][name] = {"file": npy(array).hex(), **described(array)}
    for name, array, fields in structured():
        cases["structured"][name] = {"file": npy(array).hex(),
                                     "fields": {field: described(column) for field, column in fields.items()}}
    for version in [(2, 0), (3, 0)]:
        array = numbers("float32", (2, 3))
        cases["arrays"]["version %d.%d" % version] = {"file": npy(array, version).hex(), **described(array)}
    cases["unsigned"] = {name: {"file": npy(array).hex(), **described(wide)} for name, array, wide in unsigned()}
    for name, array in refused():
        cases["refused"][name] = npy(array).hex()
    content = {"x": numbers("float32", (2, 3)), "größe": numbers("int64", (3,)), "columns": np.asfortranarray(
        numbers("float64", (2, 2))), "a/b": np.array(True), "zeros": np.zeros((40, 40), np.uint8)}
    for name, save, entries in [("stored", np.savez, content), ("deflated", np.savez_compressed, content),
                                ("empty", np.savez, {})]:
        cases["archives"][name] = {"file": npz(save, **entries).hex(),
                                   "arrays": {key: described(array) for key, array in entries.items()}}
    for name, file, entries in other_archives():
        cases["archives"][name] = {"file": file.hex(),
                                   "arrays": {key: described(array) for key, array in entries.items()}}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.npy", npy(numbers("float32", (2, 3))))
    cases["refused archives"] = {"lzma": packed.getvalue().hex()}
    path = Path(__file__).parent / "recorded" / "npy.json"
    groups = []
    for group, entries in cases.items():
        lines = [f"{json.dumps(key)}: {json.dumps(entry, separators=(',', ':'))}" for key, entry in entries.items()]
        groups.append(json.dumps(group) + ": {\n" + ",\n".join(lines) + "\n}")
    path.write_text("{\n" + ",\n".join(groups) + "\n}\n")
    print(f"{path.name}: {path.stat().st_size} bytes, numpy {np.__version__}")


main()
