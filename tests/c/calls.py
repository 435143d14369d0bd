"""Calls the C interface by ctypes. calls.py LIBRARY FOLDER [ONNX_LIBRARY MODEL]: the files are those of calls.c; MODEL
is an ONNX file of one input and one output, which needs the library of mezzo::onnx."""

import ctypes
import math
import sys
import threading
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p, sizeof
from pathlib import Path

SAMPLES, FEATURES, CLASSES = 6, 4, 3
FLOAT32, INT64 = 1, 8
OK, BUFFER = 0, 8


class Array(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("data", c_void_p), ("bytes", c_size_t),
                ("shape", POINTER(c_int64)), ("rank", c_int32), ("dtype", c_int32)]


class Buffer(Structure):
    _fields_ = [("struct_size", c_size_t), ("data", c_void_p), ("capacity", c_size_t), ("bytes", c_size_t),
                ("dtype", c_int32), ("rank", c_int32), ("shape", c_int64 * 8)]


class Number(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class Numbers(Structure):
    _fields_ = [("struct_size", c_size_t), ("entries", POINTER(Number)), ("capacity", c_size_t), ("count", c_size_t)]


class Step(Structure):
    _fields_ = [("struct_size", c_size_t), ("inputs", POINTER(Array)), ("input_count", c_size_t),
                ("targets", POINTER(Array)), ("target_count", c_size_t),
                ("sample_weights", POINTER(Array)), ("sample_weight_count", c_size_t)]


class LoadOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("precision", c_char_p), ("no_compile", c_int32), ("workers", c_int32)]


class Info(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("dtype", c_int32), ("rank", c_int32),
                ("shape", c_int64 * 8)]


def sized(struct, **members):
    return struct(struct_size=sizeof(struct), **members)


class Library:
    """The functions, with exceptions for errors."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        for name in ("mezzo_last_error", "mezzo_version"):
            getattr(self.functions, name).restype = c_char_p
        self.functions.mezzo_free.argtypes = [c_void_p]
        self.functions.mezzo_free.restype = None

    def status(self, name, *arguments):
        return getattr(self.functions, "mezzo_" + name)(*arguments)

    def call(self, name, *arguments):
        status = self.status(name, *arguments)
        if status != OK:
            raise RuntimeError(f"mezzo_{name}: {status}: {self.error()}")

    def error(self):
        return self.functions.mezzo_last_error().decode()


class Model:
    def __init__(self, library, path, workers=0):
        self.library, self.handle = library, c_void_p()
        options = sized(LoadOptions, workers=workers)
        library.call("load", str(path).encode(), byref(options), byref(self.handle))

    def free(self):
        self.library.functions.mezzo_free(self.handle)

    def predict(self, array):
        out = (ctypes.c_float * (SAMPLES * CLASSES))()
        buffer = sized(Buffer, data=ctypes.addressof(out), capacity=sizeof(out))
        self.library.call("predict", self.handle, byref(array), c_size_t(1), byref(buffer), c_size_t(1))
        assert list(buffer.shape)[:buffer.rank] == [SAMPLES, CLASSES] and buffer.dtype == FLOAT32
        return list(out)

    def step(self, verb, x, y, weights=None):
        entries = (Number * 4)()
        numbers = sized(Numbers, entries=entries, capacity=4)
        step = sized(Step, inputs=ctypes.pointer(x), input_count=1, targets=ctypes.pointer(y), target_count=1)
        if weights is not None:
            step.sample_weights, step.sample_weight_count = ctypes.pointer(weights), 1
        self.library.call(verb + "_step", self.handle, byref(step), byref(numbers))
        return [(entry.name.decode(), entry.value) for entry in entries[:numbers.count]]


def array_of(data, dtype, *shape):
    sizes = (c_int64 * len(shape))(*shape)
    out = sized(Array, data=ctypes.addressof(data), bytes=sizeof(data), shape=sizes, rank=len(shape), dtype=dtype)
    out.kept = data, sizes
    return out


def read(path, kind, count):
    return (kind * count).from_buffer_copy(Path(path).read_bytes())


def show(label, numbers):
    print(label, *(f"{number:.9g}" for number in numbers))


def show_logs(label, logs):
    print(label, *(f"{name}={value:.17g}" for name, value in logs))


def predict_in_threads(model, x, expected):
    """Predictions of several threads with one handle are those of one thread."""
    different = []

    def work():
        for _ in range(20):
            if model.predict(x) != expected:
                different.append(True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not different


def predict_onnx(library, onnx_library, path):
    """Before the library of mezzo::onnx is loaded, the file is refused."""
    handle = c_void_p()
    assert library.status("load", path.encode(), None, byref(handle)) != OK
    assert "need libmezzo_onnx in the process" in library.error() and not handle
    kept = ctypes.CDLL(onnx_library)
    model = Model(library, path)
    info = sized(Info)
    library.call("input_info", model.handle, c_size_t(0), byref(info))
    sizes = [2 if size < 0 else size for size in info.shape[:info.rank]]
    x = array_of((ctypes.c_float * math.prod(sizes))(), info.dtype, *sizes)
    library.call("output_info", model.handle, c_size_t(0), byref(info))
    out = (ctypes.c_float * (2 * info.shape[1]))()
    buffer = sized(Buffer, data=ctypes.addressof(out), capacity=sizeof(out))
    library.call("predict", model.handle, byref(x), c_size_t(1), byref(buffer), c_size_t(1))
    assert info.shape[0] == -1 and buffer.bytes == sizeof(out) and any(out) and out[0] == out[info.shape[1]], list(out)
    model.free()
    return kept


def main(path, folder, *onnx):
    library = Library(path)
    if onnx:
        predict_onnx(library, *onnx)
    print("version", library.functions.mezzo_version().decode())
    folder = Path(folder)
    x = array_of(read(folder / "x.bin", ctypes.c_float, SAMPLES * FEATURES), FLOAT32, SAMPLES, FEATURES)
    y = array_of(read(folder / "y.bin", c_int64, SAMPLES), INT64, SAMPLES)
    weights = array_of((ctypes.c_float * SAMPLES)(1, 0, 1, 2, 1, 1), FLOAT32, SAMPLES)
    model = Model(library, folder / "model.mezzo")
    info = sized(Info)
    library.call("input_info", model.handle, c_size_t(0), byref(info))
    assert info.name == b"pixels" and list(info.shape)[:info.rank] == [-1, FEATURES]
    before = model.predict(x)
    predict_in_threads(model, x, before)
    several = Model(library, folder / "model.mezzo", workers=2)
    predict_in_threads(several, x, before)
    several.free()
    show("before", before)
    for i in range(3):
        show_logs("train", model.step("train", x, y, weights if i == 2 else None))
    show_logs("evaluate", model.step("evaluate", x, y))
    model.step("train", x, y)
    show("after", model.predict(x))
    library.call("save", model.handle, str(folder / "saved.mezzo").encode(), None)

    # The text of an error belongs to its thread.
    buffer = sized(Buffer)
    assert library.status("predict", model.handle, byref(x), c_size_t(1), byref(buffer), c_size_t(1)) == BUFFER
    assert buffer.bytes == 4 * SAMPLES * CLASSES
    seen = []
    other = threading.Thread(target=lambda: seen.append(library.error()))
    other.start()
    other.join()
    assert seen == [""] and "capacity must be at least 72 bytes" in library.error(), (seen, library.error())
    model.free()


if __name__ == "__main__":
    main(*sys.argv[1:])
