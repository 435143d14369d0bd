"""What the scripts that record training steps share: weights and images by a formula, and what is kept of a gradient.

tests/models/formula.hpp repeats the formula (`numbers`), so that the files stay small. Of each gradient they have the
norm and eight projections, on vectors of the same formula.
"""

import json
from pathlib import Path

import numpy as np
import torch

IMAGES, PROJECTIONS = 1000, 2000  # streams of numbers; weights have those of their places in the list


def numbers(stream, count):
    """Numbers in [-1, 1) of 24 bits, exact in float32: MurmurHash3's finalizer of stream and index."""
    h = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(stream * 0x85EBCA77 % 2**32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    h ^= h >> np.uint32(16)
    return (h >> np.uint32(8)).astype(np.float64) / 2**23 - 1


def weight(name, shape, stream, beta):
    """Rounded to float32, which both sides hold exactly. Kernels are scaled by their fan-in, as for a ReLU.

    At beta = 0 a float32 step of this size takes a few ReLUs to lie on the other side of 0 than a float64 one, and one
    such element of 100,000 changes a gradient by half a percent, in torch too. At beta = 2 few values come near to 0.
    """
    u = numbers(stream, int(np.prod(shape)))
    if len(shape) > 1:
        u *= np.sqrt(6 / np.prod(shape[1:]))
    elif name.endswith("running_var") or ("fc" not in name and name.endswith("weight")):
        u = 1 + 0.25 * u
    else:
        u = (beta if "fc" not in name and name.endswith("bias") else 0) + 0.25 * u
    return torch.from_numpy(u.astype(np.float32).astype(np.float64).reshape(shape))


def digits(x):
    return float(f"{x:.12g}")


def sketch(x):
    x = x.detach().numpy().reshape(-1)
    norm = np.linalg.norm(x)
    if norm < 1e-13:  # 0 but for rounding, which isn't the same everywhere
        return [0] * 9
    return [digits(norm), *(digits(x @ numbers(PROJECTIONS + i, x.size)) for i in range(8))]


def write(name, cases, source):
    path = Path(__file__).parent / "recorded" / f"{name}.json"
    lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes, {source}")
