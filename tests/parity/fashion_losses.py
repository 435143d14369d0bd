"""Records the losses of 20 training steps of the CNN on Fashion-MNIST's first pictures: Keras' start, with biases of 0,
on pictures with a background of 0. In float32 and in float64.

Kernels come from formula.py. Adam is Keras', whose epsilon isn't divided by the bias correction as in torch.
"""

import gzip
import os
from pathlib import Path

import numpy as np
import torch
from formula import weight, write
from torch import nn

BATCH, STEPS = 128, 20
RATE, BETA_1, BETA_2, EPSILON = 1e-3, 0.9, 0.999, 1e-7
SHAPES = {"conv1.weight": (32, 1, 3, 3), "conv1.bias": (32,), "conv2.weight": (64, 32, 3, 3), "conv2.bias": (64,),
          "fc.weight": (10, 1600), "fc.bias": (10,)}

torch.set_num_threads(1)


def read_idx(name, offset):
    folder = Path(os.environ.get("MEZZO_DATA", "/usr/share/datasets")) / "fashion-mnist"
    data = gzip.decompress((folder / name).read_bytes())
    return np.frombuffer(data, np.uint8, offset=offset)


def loss_of(w, x, y):
    x = nn.functional.max_pool2d(nn.functional.conv2d(x, w["conv1.weight"], w["conv1.bias"]).relu(), 2)
    x = nn.functional.max_pool2d(nn.functional.conv2d(x, w["conv2.weight"], w["conv2.bias"]).relu(), 2)
    x = x.permute(0, 2, 3, 1).flatten(1)  # flattened as NHWC
    return nn.functional.cross_entropy(nn.functional.linear(x, w["fc.weight"], w["fc.bias"]), y)


def losses(dtype):
    images = read_idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
    labels = read_idx("train-labels-idx1-ubyte.gz", 8)
    w = {n: weight(n, s, i, 0) if len(s) > 1 else torch.zeros(s) for i, (n, s) in enumerate(SHAPES.items())}
    w = {n: v.to(dtype).requires_grad_() for n, v in w.items()}
    m, v = ({n: torch.zeros_like(p) for n, p in w.items()} for _ in range(2))
    out = []
    for step in range(STEPS):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        x = torch.from_numpy(images[rows].copy()).to(dtype) * (1 / 255)
        loss = loss_of(w, x, torch.from_numpy(labels[rows].astype(np.int64)))
        out.append(loss.item())
        gradients = torch.autograd.grad(loss, list(w.values()))
        alpha = RATE * (1 - BETA_2 ** (step + 1)) ** 0.5 / (1 - BETA_1 ** (step + 1))
        with torch.no_grad():
            for (n, p), g in zip(w.items(), gradients):
                m[n] += (g - m[n]) * (1 - BETA_1)
                v[n] += (g * g - v[n]) * (1 - BETA_2)
                p -= alpha * m[n] / (v[n].sqrt() + EPSILON)
    return out


write("fashion_losses", {
    "batch": BATCH,
    "weights": [[n, list(s)] for n, s in SHAPES.items()],
    "float32": losses(torch.float32),
    "float64": losses(torch.float64),
}, f"torch {torch.__version__}")
