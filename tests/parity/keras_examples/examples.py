"""Data, weights and noise by formulas (examples.hpp has the same), and a training step for JAX.

Keras computes in float64. The C++ programs compute in float32 and are compared within 1e-4.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from common import keras, np, write  # noqa: E402  sets JAX up

import jax  # noqa: E402


def uniform(stream, shape, low=-1.0, high=1.0):
    """Numbers of 24 bits, exact in float32, by MurmurHash3's finalizer of stream and index."""
    h = np.arange(np.prod(shape), dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(stream * 0x85EBCA77 % 2**32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    h ^= h >> np.uint32(16)
    u = (h >> np.uint32(8)).astype(np.float64) / 2**23 - 1
    return (low + (high - low) * (u + 1) / 2).astype(np.float32).astype(np.float64).reshape(shape)


def normal(stream, shape):
    """About normal: sums of four uniform numbers, with variance 1."""
    total = sum(uniform(stream + i, shape) for i in range(4)) * np.sqrt(0.75)
    return total.astype(np.float32).astype(np.float64)


def integers(stream, shape, below):
    return np.floor(uniform(stream, shape, 0.0, 1.0) * below).astype(np.int32)


def pictures(count, size, channels=1, stream=1):
    """Filled squares, diamonds, crosses and frames with noise, and their kinds as labels."""
    i, y, x, c = np.meshgrid(*(np.arange(n) for n in (count, size, size, channels)), indexing="ij")
    dx, dy, radius = abs(x - size // 2 - i // 4 % 3 + 1), abs(y - size // 2 - i // 12 % 3 + 1), size // 3
    inside = np.select([i % 4 == 0, i % 4 == 1, i % 4 == 2],
                       [np.maximum(dx, dy) <= radius, dx + dy <= radius, (dx == 0) | (dy == 0)],
                       np.maximum(dx, dy) == radius)
    return inside * (0.8 - 0.2 * c) + 0.2 * uniform(stream, inside.shape, 0.0, 1.0), (np.arange(count) % 4).astype("int32")


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
    """One step of gradient descent on loss(), a function that calls layers; what tf.GradientTape does elsewhere."""
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


def rated_words(count, below, stream=20):
    """Lists of 6 to 14 indices in [3, below) with their ratings, 0 or 1; those of rating 1 have more large indices."""
    ratings = (np.arange(count) * 7 % 5 % 2).astype("int32")
    lists = [np.floor((below - 3) * uniform(stream + i, (6 + i * 5 % 9,), 0.0, 1.0) ** (1.5 - rating)).astype("int32") + 3
             for i, rating in enumerate(ratings)]
    return lists, ratings


def rated_texts(count, stream=20):
    """Reviews in English with HTML, and their ratings, 0 or 1."""
    words = "terrible Boring! bad, bad: plot. The film Was a story; with actors it's and I fine good (great) Superb!".split()
    lists, ratings = rated_words(count, 3 + len(words), stream)
    return ["<br />".join(" ".join(words[i - 3] for i in part) for part in (x[:6], x[6:])) for x in lists], ratings


def heart_disease(count, stream):
    """Columns as in the data set of the Cleveland Clinic Foundation, and the targets."""
    sex, cp, ca = integers(stream, (3, count), 4)
    age, trestbps, oldpeak = uniform(stream + 1, (3, count))
    thal = np.array(["normal", "fixed", "reversible"])[(sex + ca) % 3]
    columns = {"sex": sex % 2, "cp": cp, "ca": ca, "thal": thal}
    columns |= {"age": 55 + 20 * age, "trestbps": 130 + 30 * trestbps, "oldpeak": 2 + 2 * oldpeak}
    return columns, (cp + ca + 2 * oldpeak > 3).astype("int32")
