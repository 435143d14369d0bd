"""Numbers by formulas (programs.hpp has the same), initial weights, and training steps for programs with their own loop.

Keras computes in float64. The C++ programs compute in float32 and are compared within 1e-4.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from common import keras, np  # noqa: E402  sets JAX up
from hashed_numbers import numbers  # noqa: E402

import jax  # noqa: E402

RECORDED = Path(__file__).parent.parent / "recorded" / "programs"


def uniform(stream, shape, low=-1.0, high=1.0):
    """Numbers of 24 bits, exact in float32, by a formula of stream and index."""
    u = numbers(stream, np.prod(shape))
    return (low + (high - low) * (u + 1) / 2).astype(np.float32).astype(np.float64).reshape(shape)


def normal(stream, shape):
    """About normal: sums of four uniform numbers, with variance 1."""
    total = sum(uniform(stream + i, shape) for i in range(4)) * np.sqrt(0.75)
    return total.astype(np.float32).astype(np.float64)


def integers(stream, shape, below):
    """Integers in [0, below)."""
    return np.floor(uniform(stream, shape, 0.0, 1.0) * below).astype(np.int32)


def initialize(model, stream=100):
    """Sets all weights, except those that adapt() has set, and returns their shapes."""
    weights = [weight for weight in model.weights if weight.name not in ("mean", "variance", "count")]
    for i, weight in enumerate(weights):
        u = uniform(stream + i, weight.shape)
        if weight.name == "embeddings":
            u *= 0.5
        elif len(weight.shape) > 1:
            u *= np.sqrt(3 / np.prod(weight.shape[:-1]))
        elif weight.name in ("gamma", "moving_variance"):
            u = 1 + 0.25 * u
        else:
            u *= 0.1
        weight.assign(u.astype(np.float32).astype(np.float64))
    return [list(weight.shape) for weight in weights]


def minimize(optimizer, variables, loss):
    """One step of gradient descent on loss(), a function that calls layers and returns a loss, or it and named numbers."""
    def of_values(values):
        with keras.StatelessScope(state_mapping=list(zip(variables, values))):
            out = loss()
        return out if isinstance(out, tuple) else (out, {})

    (value, logs), gradients = jax.value_and_grad(of_values, has_aux=True)([v.value for v in variables])
    optimizer.apply(gradients, variables)
    return {"loss": float(value), **{name: float(number) for name, number in logs.items()}}


def epochs(count, size, batch_size, step):
    """Calls step(slice) for the batches of each epoch and returns the means of its numbers, as a history."""
    history = {}
    for _ in range(count):
        rows = [step(slice(begin, begin + batch_size)) for begin in range(0, size, batch_size)]
        for name in rows[0]:
            history.setdefault(name, []).append(float(np.mean([row[name] for row in rows])))
    return history


def write(name, record):
    RECORDED.mkdir(exist_ok=True)
    lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in record.items()]
    (RECORDED / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"programs/{name}.json")
