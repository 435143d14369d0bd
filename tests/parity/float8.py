"""Records training in float8: outputs, weights, scales and histories of Keras' Dense and EinsumDense."""

import os

os.environ.update(KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")

import json  # noqa: E402
from pathlib import Path  # noqa: E402

import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers  # noqa: E402

STEPS, RATE = 4, 0.125


def array(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": [v.item() for v in x.reshape(-1)]}


def numbers(seed, shape, scale=1.0):
    """Random numbers with two decimals, for short JSON."""
    return (np.round(np.random.default_rng(seed).uniform(-1, 1, shape), 2) * scale).astype("float32")


def history(weight):
    """Numbers of a history that aren't 0, by position."""
    values = np.asarray(weight)
    return [[int(i), values[i].item()] for i in np.flatnonzero(values)]


def outputs(model, x):
    return array(np.asarray(model.predict(x, verbose=0)).astype("float32"))


def trained(shape, make, target, policy):
    """Inputs grow from step to step, so that scales change and numbers are clipped."""
    keras.config.set_dtype_policy(policy)
    model = keras.Sequential([keras.Input(shape[1:]), *make()])
    keras.config.set_dtype_policy("float32")
    weights = [numbers(10 + i, w.shape) for i, w in enumerate(model.weights)]
    model.set_weights(weights)
    model.quantize("float8")
    model.compile(optimizer=keras.optimizers.SGD(RATE), loss="mse", run_eagerly=True)
    x, y = numbers(1, shape), numbers(2, target)
    out = {"policy": policy, "x": array(x), "target": array(y), "weights": [array(w) for w in weights],
           "before": outputs(model, x), "losses": []}
    for step in range(STEPS):
        loss = model.train_on_batch(x * np.float32(1 + 0.75 * step), y)
        out["losses"].append(float(loss))
    out["after"] = outputs(model, x)
    for place, layer in enumerate(model.layers):
        for weight in layer.weights:
            name = f"{place}/{weight.name}"
            out[name] = history(weight) if "history" in name else array(weight)
    return out


dense = lambda: [layers.Dense(7, activation="relu"), layers.Dense(3)]
heads = lambda: [layers.EinsumDense("abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de")]
joined = lambda: [layers.EinsumDense("abcd,cde->abe", output_shape=(None, 5), bias_axes="e")]
transposed = lambda: [layers.EinsumDense("ab,cb->ac", output_shape=5)]
side_by_side = lambda: [layers.EinsumDense("abc,bcd->abd", output_shape=(3, 4))]
cases = {
    "Dense": trained((6, 5), dense, (6, 3), "float32"),
    "Dense bfloat16": trained((6, 5), dense, (6, 3), "mixed_bfloat16"),
    "EinsumDense heads": trained((4, 3, 6), heads, (4, 3, 2, 3), "float32"),
    "EinsumDense joined": trained((4, 3, 2, 4), joined, (4, 3, 5), "float32"),
    "EinsumDense transposed": trained((4, 6), transposed, (4, 5), "float32"),
    "EinsumDense side by side": trained((4, 3, 5), side_by_side, (4, 3, 4), "float32"),
}
path = Path(__file__).parent / "recorded" / "float8.json"
lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes, Keras {keras.__version__}")
