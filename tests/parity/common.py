"""Common parts of the recording scripts: Keras on JAX in float64, reproducible numbers, the file format."""

import json
import os
from pathlib import Path

os.environ.update(KERAS_BACKEND="jax", JAX_ENABLE_X64="1", JAX_PLATFORMS="cpu", CUDA_VISIBLE_DEVICES="")

import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras.src.backend.common import dtypes  # noqa: E402

# Otherwise Keras on JAX computes means, moments and schedules in float32.
dtypes.BIT64_TO_BIT32_DTYPE["float64"] = "float64"
keras.config.set_floatx("float64")


def numbers(seed, shape, low=-1.0, high=1.0):
    """Random numbers with two decimals, for short JSON."""
    return np.round(np.random.default_rng(seed).uniform(low, high, shape), 2)


def integers(seed, shape, below):
    return np.random.default_rng(seed).integers(0, below, shape)


def array(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": [v.item() for v in x.reshape(-1)]}


def write(name, cases):
    path = Path(__file__).parent / "recorded" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes, Keras {keras.__version__}")
