"""Records fits of small models by PyTorch in float64: losses of each epoch, validation losses and the final weights.

The product of optimizers, clips and schedules; models, sample weights and loss functions alternate. Each fit takes 3
epochs over 15 samples in batches of 4, so the last batch is short, and validates on the last 5 of 20 samples.

Where Keras' formula differs from PyTorch's, PyTorch's optimizer gets other inputs: `step` explains them.
"""

import json
import math
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

SAMPLES, TRAINED, BATCH, EPOCHS, STEPS = 20, 15, 4, 3, 12
TOKENS, CLASSES, WIDTH = 9, 3, 4


def numbers(seed, shape, low=-1.0, high=1.0):
    """Random numbers with two decimals, for short JSON."""
    return torch.from_numpy(np.round(np.random.default_rng(seed).uniform(low, high, shape), 2))


class BatchNorm(nn.BatchNorm1d):
    """PyTorch's, with the biased variance in the moving statistics, as in Keras."""

    def forward(self, x):
        if not self.training:
            return super().forward(x)
        with torch.no_grad():
            self.running_mean.lerp_(x.mean(0), self.momentum)
            self.running_var.lerp_(x.var(0, unbiased=False), self.momentum)
        return F.batch_norm(x, None, None, self.weight, self.bias, True, eps=self.eps)


class Model(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        if kind == "embedding":
            self.table = nn.Embedding(TOKENS, 2)
            self.head = nn.Linear(3 * 2, CLASSES)
        else:
            self.norm = BatchNorm(WIDTH, eps=1e-3, momentum=0.2) if kind == "batch_norm" else nn.Identity()
            self.hidden = nn.Linear(3, WIDTH, bias=kind == "dense")  # a bias before the norm would have no gradient
            self.head = nn.Linear(WIDTH, 2)
        for seed, (name, weight) in enumerate(self.named_parameters()):
            weight.data = numbers(100 + seed, weight.shape, 0.5 if name == "norm.weight" else -1)

    def forward(self, x):
        if self.kind == "embedding":
            return self.head(self.table(x).flatten(1))
        activation = torch.tanh if self.kind == "dense" else torch.relu
        return self.head(activation(self.norm(self.hidden(x))))

    def losses(self, x, y):
        if self.kind == "embedding":
            return F.cross_entropy(self(x), y, reduction="none")
        return F.mse_loss(self(x), y, reduction="none").mean(1)

    def weights(self):
        """In the order and layout of the C++ model."""
        if self.kind == "embedding":
            layers = [[self.table.weight], [self.head.weight.T, self.head.bias]]
        else:
            layers = [[self.hidden.weight.T], [self.head.weight.T, self.head.bias]]
            if self.kind == "dense":
                layers[0].append(self.hidden.bias)
            else:
                norm = self.norm
                layers.insert(1, [norm.weight, norm.bias, norm.running_mean, norm.running_var])
        return [w.detach() for layer in layers for w in layer]


def data(kind):
    y = numbers(2, (SAMPLES, 2))
    if kind != "embedding":
        return numbers(1, (SAMPLES, 3), -2, 2), y
    generator = np.random.default_rng(3)
    # The last token occurs in no training sample: its row has no gradient.
    ids = generator.integers(0, TOKENS - 1, (SAMPLES, 3))
    ids[-1, 0] = TOKENS - 1
    return torch.from_numpy(ids), torch.from_numpy(generator.integers(0, CLASSES, SAMPLES))


OPTIMIZERS = {
    "sgd": {"name": "sgd"},
    "sgd_momentum": {"name": "sgd", "momentum": 0.9},
    "sgd_nesterov": {"name": "sgd", "momentum": 0.8, "nesterov": True, "weight_decay": 0.1},
    "adam": {"name": "adam", "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-2},
    "adamw": {"name": "adamw", "weight_decay": 0.2, "epsilon": 1e-4},
}
CLIPS = {"": {}, "clipnorm": {"clipnorm": 0.2}, "clipvalue": {"clipvalue": 0.1},
         "global_clipnorm": {"global_clipnorm": 0.3}}
RATE = 0.05
SCHEDULES = {
    "constant": {},
    "exponential": {"decay_steps": 1, "decay_rate": 0.9},
    "piecewise": {"boundaries": [2, 6], "values": [RATE, RATE * 0.5, RATE * 0.25]},
    "cosine": {"decay_steps": STEPS + 3, "alpha": 0.1},
    "warmup": {"initial": RATE * 0.2, "warmup_steps": 3, "decay_steps": STEPS - 3},
}


def make_optimizer(options, parameters):
    if options["name"] == "sgd":
        return torch.optim.SGD(parameters, lr=RATE, momentum=options.get("momentum", 0),
                               nesterov=options.get("nesterov", False))
    return torch.optim.AdamW(parameters, lr=RATE, betas=(options.get("beta_1", 0.9), options.get("beta_2", 0.999)),
                             weight_decay=options.get("weight_decay", 0))


def make_schedule(name, optimizer):
    lr = torch.optim.lr_scheduler
    if name == "exponential":
        return lr.ExponentialLR(optimizer, 0.9)
    if name == "piecewise":
        return lr.MultiStepLR(optimizer, [3, 7], gamma=0.5)  # after Keras' last steps 2 and 6 of a value
    if name == "cosine":
        return lr.CosineAnnealingLR(optimizer, STEPS + 3, eta_min=0.1 * RATE)
    if name == "warmup":
        cosine = lr.CosineAnnealingLR(optimizer, STEPS - 3)
        return lr.SequentialLR(optimizer, [lr.LinearLR(optimizer, 0.2, total_iters=3), cosine], [3])
    return lr.ConstantLR(optimizer, 1)


def clip(clips, parameters):
    """Clips gradients by Keras' formulas. True if that changed any. (PyTorch adds 1e-6 to norms.)"""
    gradients = [p.grad for p in parameters]
    before = [g.clone() for g in gradients]
    if "clipvalue" in clips:
        torch.nn.utils.clip_grad_value_(parameters, clips["clipvalue"])
    groups = [gradients] if "global_clipnorm" in clips else [[g] for g in gradients]
    limit = clips.get("global_clipnorm", clips.get("clipnorm", math.inf))
    for group in groups:
        norm = torch.linalg.vector_norm(torch.cat([g.flatten() for g in group]))
        if norm > limit:
            for g in group:
                g.mul_(limit / norm)
    return any(not torch.equal(a, b) for a, b in zip(before, gradients))


def step(optimizer, options, count):
    """One step by Keras' formulas.

    SGD: Keras adds learning_rate * gradient to the momentum, PyTorch multiplies the momentum by the rate. They differ
    under a schedule. So PyTorch's SGD gets the product as its gradient, at a rate of 1. Weight decay is decoupled.
    Adam: Keras adds epsilon before the bias correction of the second moment, PyTorch after it.
    """
    group = optimizer.param_groups[0]
    rate = group["lr"]
    if options["name"] == "sgd":
        with torch.no_grad():
            for p in group["params"]:
                p.mul_(1 - rate * options.get("weight_decay", 0))
                p.grad.mul_(rate)
        group["lr"] = 1.0
        optimizer.step()
        group["lr"] = rate
    else:
        group["eps"] = options["epsilon"] / math.sqrt(1 - group["betas"][1] ** count)
        optimizer.step()


def array(x):
    return {"shape": list(x.shape), "dtype": str(x.numpy().dtype), "data": x.flatten().tolist()}


def batches(first, last):
    return [slice(i, min(i + BATCH, last)) for i in range(first, last, BATCH)]


def mean_loss(model, x, y, factors, part):
    return (model.losses(x[part], y[part]) * factors[part]).mean()


def record(kind, weighted, optimizer_name, clip_name, schedule_name):
    options, clips = OPTIMIZERS[optimizer_name], CLIPS[clip_name]
    model = Model(kind)
    x, y = data(kind)
    factors = numbers(4, (SAMPLES,), 0.2, 2) if weighted else torch.ones(SAMPLES)
    parameters = list(model.parameters())
    optimizer = make_optimizer(options, parameters)
    schedule = make_schedule(schedule_name, optimizer)
    count, clipped, losses, validation = 0, False, [], []
    for _ in range(EPOCHS):
        model.train()
        total = 0
        for part in batches(0, TRAINED):
            loss = mean_loss(model, x, y, factors, part)
            total += loss.item() * len(x[part])
            optimizer.zero_grad()
            loss.backward()
            clipped |= clip(clips, parameters)
            count += 1
            step(optimizer, options, count)
            schedule.step()
        losses.append(total / TRAINED)
        model.eval()
        with torch.no_grad():
            sums = [mean_loss(model, x, y, factors, part).item() * len(x[part]) for part in batches(TRAINED, SAMPLES)]
        validation.append(sum(sums) / (SAMPLES - TRAINED))
    assert clipped == bool(clips) and count == STEPS
    return {"model": kind, "weighted": weighted, "optimizer": {**options, **clips}, "schedule": schedule_name,
            "loss": losses, "val_loss": validation, "weights": [array(w) for w in model.weights()]}


def main():
    kinds = ["dense", "batch_norm", "embedding"]
    cases = {}
    for kind in kinds:
        x, y = data(kind)
        start = [array(w) for w in Model(kind).weights()]
        cases["start_" + kind] = {"x": array(x), "y": array(y), "weights": start}
    cases["options"] = {"sample_weight": array(numbers(4, (SAMPLES,), 0.2, 2)), "batch_size": BATCH, "epochs": EPOCHS,
                        "validation_split": (SAMPLES - TRAINED) / SAMPLES, "learning_rate": RATE,
                        "schedules": SCHEDULES}
    for i, optimizer in enumerate(OPTIMIZERS):
        for j, clips in enumerate(CLIPS):
            for k, schedule in enumerate(SCHEDULES):
                name = " ".join(filter(None, [optimizer, clips, schedule]))
                # Each pair of an optimizer, clip or schedule with a model, and with sample weights, occurs.
                cases[name] = record(kinds[(i + j + k) % 3], (i + j // 2 + k) % 2 == 1, optimizer, clips, schedule)
    lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
    path = Path(__file__).parent / "recorded" / "fit.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(cases) - 4} fits, {path.stat().st_size} bytes, torch {torch.__version__}")


main()
