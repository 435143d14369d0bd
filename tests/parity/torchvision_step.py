"""A training step of a model with torchvision's conventions in float64: logits, loss, gradients, moving statistics.

Weights and images come from formula.py.
"""

import torch
from formula import IMAGES, digits, numbers, sketch, weight


def record(build, size, batch, classes, beta):
    model = build(num_classes=classes).double().train()
    state = {n: v for n, v in model.state_dict().items() if not n.endswith("num_batches_tracked")}
    before = {n: weight(n, tuple(v.shape), i, beta) for i, (n, v) in enumerate(state.items())}
    model.load_state_dict(before, strict=False)
    counts = {}  # number of elements that each batch normalization averages over
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.register_forward_pre_hook(lambda m, xs, name=name: counts.update({name: xs[0][:, 0].numel()}))

    images = torch.from_numpy(numbers(IMAGES, batch * size * size * 3).reshape(batch, size, size, 3))
    logits = model(images.permute(0, 3, 1, 2))
    labels = [7 * i % classes for i in range(len(logits))]
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(labels))
    loss.backward()

    moved = {}
    for name, value in model.state_dict().items():
        if name.endswith("running_mean"):
            moved[name] = value
        if name.endswith("running_var"):  # from torch's unbiased variance the biased one, which Keras uses
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
