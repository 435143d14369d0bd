"""Common parts of the scripts that record training steps: weights and images by a formula, sketches of gradients.

tests/models/formula.hpp has the same formula (`numbers`), so that the files stay small. A gradient is recorded as its
norm and eight projections onto vectors of the same formula.
"""

import json
from pathlib import Path

import numpy as np
import torch

from hashed_numbers import numbers

IMAGES, PROJECTIONS = 1000, 2000  # streams of numbers; the stream of a weight is its position in the list


def weight(name, shape, stream, beta):
    """A weight, rounded to float32, so that it is exact on both sides. Kernels are scaled by fan-in, as for a ReLU.

    At beta = 0 some inputs of ReLUs have another sign in float32 than in float64. One such element of 100,000 changes a
    gradient by half a percent, in torch too. At beta = 2 few inputs are near 0.
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
    if norm < 1e-13:  # 0 up to rounding, which depends on the machine
        return [0] * 9
    return [digits(norm), *(digits(x @ numbers(PROJECTIONS + i, x.size)) for i in range(8))]


def write(name, cases, source):
    path = Path(__file__).parent / "recorded" / f"{name}.json"
    lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes, {source}")
