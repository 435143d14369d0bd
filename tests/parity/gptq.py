"""Records codes of GPTQ: Keras' own, and those of its algorithm with an elimination by inverses.

Keras 3.15 multiplies errors by rows of the whole inverse Hessian. GPTQ eliminates the inputs that are rounded already.
The two agree if the Hessian couples inputs only in pairs that follow each other in the order of rounding, as those of
Keras' cases here do.
"""

import os

os.environ.update(KERAS_BACKEND="jax", JAX_PLATFORMS="cpu")

import json  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from keras.src.quantizers.gptq import gptq_quantize_matrix  # noqa: E402
from keras.src.quantizers.gptq_config import GPTQConfig  # noqa: E402
from keras.src.quantizers.quantizers import GPTQQuantizer, compute_quantization_parameters  # noqa: E402

INPUTS, OUTPUTS, DAMPING = 12, 5, 0.01


def array(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": [v.item() for v in x.reshape(-1)]}


def kernel(seed):
    """Neighbours have opposite signs: Keras 3.15 saturates groups of numbers of one sign."""
    sign = (-1.0) ** np.add.outer(np.arange(INPUTS), np.arange(OUTPUTS))
    numbers = np.round(np.abs(np.random.default_rng(seed).normal(size=(INPUTS, OUTPUTS))), 2) + 0.01
    return (numbers * sign).astype("float32")


def hessian(x):
    return np.round(2 / len(x) * x.T @ x, 4)


def pairs(seed):
    """Couples inputs 2 i and 2 i + 1, without input 7."""
    rng = np.random.default_rng(seed)
    out = np.zeros((INPUTS, INPUTS))
    for i in range(0, INPUTS, 2):
        x = rng.normal(size=(40, 1)) + 0.4 * rng.normal(size=(40, 2))
        out[i : i + 2, i : i + 2] = hessian(x) * (1 + i)
    out[7] = out[:, 7] = 0
    return out


def damped(h):
    h = h.copy()
    dead = np.diag(h) == 0
    h[dead, dead] = 1
    return h + np.eye(len(h)) * DAMPING * np.mean(np.diag(h))


def entry(w, h, codes, scale, zero, **options):
    """Codes and zero points of Keras are in [0, 15]; here in [-8, 7]."""
    shifted = [(np.asarray(x).astype("int32") - 8).astype("int8") for x in (codes, zero)]
    return {"kernel": array(w), "hessian": array(h), "codes": array(shifted[0].T), "zero": array(shifted[1].T),
            "scale": array(np.asarray(scale, "float32").T), **options}


def of_keras(seed, group_size, symmetric=False, activation_order=False):
    w, h = kernel(seed), pairs(seed)
    config = GPTQConfig(None, None, group_size=group_size, symmetric=symmetric, activation_order=activation_order)
    codes, scale, zero, _ = gptq_quantize_matrix(
        w.T, np.linalg.inv(damped(h)).astype("float32"), group_size=group_size, activation_order=activation_order,
        order_metric=np.diag(damped(h)), compute_scale_zero=GPTQQuantizer(config).find_params)
    return entry(w, h, codes, scale, zero, group_size=group_size, symmetric=symmetric,
                 activation_order=activation_order)


def with_elimination(seed, group_size):
    rng = np.random.default_rng(seed)
    w = kernel(seed)
    h = hessian(rng.normal(size=(100, 1)) + 0.7 * rng.normal(size=(100, INPUTS)))
    rest = w.T.astype("float64")
    codes, scales, zeros = np.zeros_like(rest), [], []
    for i in range(INPUTS):
        if i % group_size == 0:
            scale, zero, _ = compute_quantization_parameters(
                rest[:, i : i + group_size].astype("float32"), bits=4, per_channel=True)
            scales.append(scale)
            zeros.append(zero)
        step, offset = np.asarray(scale, "float64")[:, 0], np.asarray(zero, "float64")[:, 0]
        codes[:, i] = np.clip(np.round(rest[:, i] / step + offset), 0, 15)
        inverse = np.linalg.inv(damped(h)[i:, i:])
        error = rest[:, i] - (codes[:, i] - offset) * step
        rest[:, i + 1 :] -= np.outer(error, inverse[0, 1:] / inverse[0, 0])
    return entry(w, h, codes, np.concatenate(scales, 1), np.concatenate(zeros, 1), group_size=group_size,
                 symmetric=False, activation_order=False)


cases = {
    "Keras 4": of_keras(1, 4),
    "Keras 128": of_keras(2, 128),
    "Keras -1": of_keras(3, -1),
    "Keras symmetric": of_keras(4, 4, symmetric=True),
    "Keras ordered": of_keras(5, -1, activation_order=True),
    "Keras ordered, symmetric": of_keras(6, -1, symmetric=True, activation_order=True),
    "elimination 4": with_elimination(7, 4),
    "elimination 12": with_elimination(8, 12),
}
path = Path(__file__).parent / "recorded" / "gptq.json"
path.write_text(json.dumps(cases) + "\n")
