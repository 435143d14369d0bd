"""Records a training step of torchvision's ResNets in float64: logits, loss, gradients, moving statistics.

Weights and images come from a formula (`numbers`), which tests/models/formula.hpp repeats, so that the file stays small.
Of each gradient and statistic it keeps the norm and eight projections, on vectors of the same formula.
"""

import json
from pathlib import Path

import numpy as np
import torch
import torchvision

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
    projections = [digits(x @ numbers(PROJECTIONS + i, x.size)) for i in range(8)]
    return [digits(np.linalg.norm(x)), *projections]


def record(build, size, batch, classes, beta):
    model = build(num_classes=classes).double().train()
    state = {n: v for n, v in model.state_dict().items() if not n.endswith("num_batches_tracked")}
    before = {n: weight(n, tuple(v.shape), i, beta) for i, (n, v) in enumerate(state.items())}
    model.load_state_dict(before, strict=False)
    counts = {}  # what each batch normalization averages over
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.register_forward_pre_hook(lambda m, xs, name=name: counts.update({name: xs[0][:, 0].numel()}))

    images = torch.from_numpy(numbers(IMAGES, batch * size * size * 3).reshape(batch, size, size, 3))
    labels = [7 * i % classes for i in range(batch)]
    logits = model(images.permute(0, 3, 1, 2))
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(labels))
    loss.backward()

    moved = {}
    for name, value in model.state_dict().items():
        if name.endswith("running_mean"):
            moved[name] = value
        if name.endswith("running_var"):  # the biased variance, which Keras moves by, from torch's unbiased one
            count = counts[name.rsplit(".", 1)[0]]
            moved[name] = 0.9 * before[name] + (value - 0.9 * before[name]) * (count - 1) / count
    return {
        "shape": list(images.shape),
        "classes": classes,
        "beta": beta,
        "labels": labels,
        "logits": [digits(x) for x in logits.detach().numpy().reshape(-1)],
        "loss": digits(loss.item()),
        "weights": [[n, list(v.shape)] for n, v in before.items()],
        "gradients": {n: sketch(p.grad) for n, p in model.named_parameters()},
        "moved": {n: sketch(m) for n, m in moved.items()},
    }


def main():
    models = torchvision.models
    cases = {
        "resnet18_224": record(models.resnet18, 224, 4, 37, beta=2),
        "resnet18_64": record(models.resnet18, 64, 2, 37, beta=2),
        "resnet50_64": record(models.resnet50, 64, 2, 10, beta=0),
    }
    path = Path(__file__).parent / "recorded" / "resnet.json"
    lines = [f"{json.dumps(name)}: {json.dumps(case, separators=(',', ':'))}" for name, case in cases.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes, torchvision {torchvision.__version__}")


main()
