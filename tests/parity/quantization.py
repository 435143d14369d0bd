"""Records quantized layers: codes, scales, zero points and outputs of Keras' Dense, EinsumDense and Embedding."""

import os

os.environ.update(KERAS_BACKEND="numpy", CUDA_VISIBLE_DEVICES="")

import json  # noqa: E402
from pathlib import Path  # noqa: E402

import keras  # noqa: E402
import numpy as np  # noqa: E402


def array(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": [v.item() for v in x.reshape(-1)]}


def numbers(seed, shape):
    """Random numbers with two decimals, for short JSON."""
    return np.round(np.random.default_rng(seed).uniform(-1, 1, shape), 2).astype("float32")


def signed(seed, rows, columns):
    """A matrix whose neighbours have opposite signs: Keras 3.15 saturates blocks of numbers of one sign."""
    sign = (-1.0) ** np.add.outer(np.arange(rows), np.arange(columns))
    return ((np.abs(numbers(seed, (rows, columns))) + 0.01) * sign).astype("float32")


def quantized(make, x, weights, policy):
    mode = policy.split("/")[0]
    layer = make()
    layer(x)
    layer.set_weights(weights)
    if "/" in policy:
        block = int(policy.split("/")[1])
        layer.quantize(config=keras.quantizers.Int4QuantizationConfig(block_size=block))
    else:
        layer.quantize(mode)
    out = {"mode": policy, "policy": layer.dtype_policy.name, "x": array(x), "y": array(layer(x)),
           "weights": [array(w) for w in weights]}
    for weight in layer.weights:
        out[weight.name] = array(weight)
    return out


dense = lambda: keras.layers.Dense(5)
heads = lambda: keras.layers.EinsumDense("abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de")
joined = lambda: keras.layers.EinsumDense("abcd,cde->abe", output_shape=(None, 5), bias_axes="e")
transposed = lambda: keras.layers.EinsumDense("ab,cb->ac", output_shape=5)
table = lambda: keras.layers.Embedding(7, 5)
ids = np.array([[1, 6, 0], [3, 3, 2]])
cases = {}
for mode in ("int8", "int4/-1", "int4/4", "int4/128"):
    cases[f"Dense {mode}"] = quantized(dense, numbers(1, (3, 10)), [signed(2, 10, 5), numbers(3, (5,))], mode)
    cases[f"EinsumDense heads {mode}"] = quantized(heads, numbers(4, (2, 3, 6)),
                                                   [signed(5, 6, 6).reshape(6, 2, 3), numbers(6, (2, 3))], mode)
    cases[f"EinsumDense joined {mode}"] = quantized(joined, numbers(7, (2, 3, 2, 4)),
                                                    [signed(8, 8, 5).reshape(2, 4, 5), numbers(9, (5,))], mode)
    cases[f"EinsumDense transposed {mode}"] = quantized(transposed, numbers(10, (3, 6)), [signed(11, 6, 5).reshape(5, 6)], mode)
    cases[f"Embedding {mode}"] = quantized(table, ids, [signed(12, 7, 5)], mode)
path = Path(__file__).parent / "recorded" / "quantization.json"
lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes, Keras {keras.__version__}")
