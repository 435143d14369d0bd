"""Records training loops of PyTorch in float32: the losses and numbers of each step, the counts of updates, the final
weights. Kernels are transposed to Keras' layout.

`scales` has the scale and the tracker of torch.amp.GradScaler for given patterns of gradients that overflow.
"""

import json
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F

torch.set_num_threads(1)


def numbers(seed, shape, low=-1.0, high=1.0):
    """Random numbers with two decimals, for short JSON."""
    return torch.from_numpy(np.round(np.random.default_rng(seed).uniform(low, high, shape), 2)).float()


def network(seed, *sizes):
    layers = []
    for i, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        layer = nn.Linear(rows, columns)
        layer.weight.data = numbers(seed + 2 * i, (rows, columns)).T.contiguous()
        layer.bias.data = numbers(seed + 2 * i + 1, (columns,))
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def weights(*models):
    return [listed(p.detach().T if p.dim() == 2 else p.detach()) for model in models for p in model.parameters()]


def listed(array):
    return {"shape": list(array.shape), "dtype": "float32", "data": [float(x) for x in array.flatten()]}


BATCHES, BATCH = 4, 8


def classes(scale=1.0):
    """Batches of a classification: (x, y) of each."""
    x = numbers(1, (BATCHES, BATCH, 4), -2, 2) * scale
    y = torch.from_numpy(np.random.default_rng(2).integers(0, 3, (BATCHES, BATCH)))
    return x, y


def plain():
    model, (x, y) = network(10, 4, 8, 3), classes()
    first = weights(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, eps=1e-12)
    losses = []
    for step in range(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[step % BATCHES]), y[step % BATCHES])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"first": first, "x": listed(x), "y": y.flatten().tolist(), "losses": losses, "last": weights(model)}


def accumulation():
    model, (x, y) = network(20, 4, 8, 3), classes()
    first = weights(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    losses, norms = [], []
    for step in range(24):
        loss = F.cross_entropy(model(x[step % BATCHES]), y[step % BATCHES])
        (loss / 4).backward()
        losses.append(loss.item())
        if step % 4 == 3:
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), 0.3).item())
            optimizer.step()
            optimizer.zero_grad()
    return {"first": first, "losses": losses, "norms": norms, "last": weights(model)}


def gan():
    generator, critic = network(30, 3, 8, 2), network(40, 2, 8, 1)
    first = weights(generator, critic)
    real, noise = numbers(3, (20, BATCH, 2), 0, 2), numbers(4, (20, BATCH, 3))
    of_critic = torch.optim.Adam(critic.parameters(), lr=0.02, betas=(0.5, 0.9), eps=1e-12)
    of_generator = torch.optim.Adam(generator.parameters(), lr=0.05, betas=(0.5, 0.9), eps=1e-12)
    losses = []
    for step in range(20):
        fake = generator(noise[step])
        of_critic.zero_grad()
        loss = critic(fake.detach()).mean() - critic(real[step]).mean()
        loss.backward()
        of_critic.step()
        cost = -critic(generator(noise[step])).mean()
        losses.append([loss.item(), cost.item()])
        if step % 5 == 4:
            of_generator.zero_grad()
            cost.backward()
            of_generator.step()
    return {"first": first, "real": listed(real), "noise": listed(noise), "losses": losses,
            "last": weights(generator, critic)}


def scaled():
    """Gradients overflow in float32 at the first scales."""
    model, (x, y) = network(50, 4, 8, 3), classes(4.0)
    first = weights(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, eps=1e-12)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=3)
    losses, scales, updates = [], [], 0
    for step in range(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[step % BATCHES]), y[step % BATCHES], reduction="sum")
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        before = scaler.get_scale()
        scaler.update()
        updates += scaler.get_scale() >= before
        losses.append(loss.item())
        scales.append(scaler.get_scale())
    return {"first": first, "x": listed(x), "losses": losses, "scales": scales, "updates": updates,
            "last": weights(model)}


def meta():
    """MAML: gradients through two steps of gradient descent on a task."""
    model = network(60, 1, 8, 1)
    first = weights(model)
    x, phases = numbers(5, (10, 2, 6, 1), -3, 3), numbers(6, (10,), 0, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, eps=1e-12)
    losses = []
    for step in range(10):
        (seen, other), y = x[step], torch.sin(x[step] + phases[step])
        fast = dict(model.named_parameters())
        for _ in range(2):
            loss = F.mse_loss(functional_call(model, fast, seen), y[0])
            slopes = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: weight - 0.1 * slope for (name, weight), slope in zip(fast.items(), slopes)}
        optimizer.zero_grad()
        loss = F.mse_loss(functional_call(model, fast, other), y[1])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"first": first, "x": listed(x), "y": listed(torch.sin(x + phases[:, None, None, None])), "losses": losses,
            "last": weights(model)}


def scales():
    cases = []
    for options in ({"init_scale": 65536.0}, {"init_scale": 3.0, "growth_factor": 1.7, "backoff_factor": 0.3},
                    {"init_scale": 2.0**125, "growth_factor": 4.0}, {"init_scale": 1000.0, "growth_factor": 1.01}):
        options["growth_interval"] = 2
        for pattern in ("0000000000", "0010100111", "1111100000", "0001000100"):
            weight = nn.Parameter(torch.zeros(2))
            optimizer = torch.optim.SGD([weight], lr=1.0)
            scaler = torch.amp.GradScaler("cpu", **options)
            rows = []
            for overflows in pattern:
                scaler.scale(torch.zeros(()))
                weight.grad = torch.tensor([1.0, float("inf") if overflows == "1" else 1.0])
                scaler.step(optimizer)
                scaler.update()
                rows.append([scaler.get_scale(), scaler._get_growth_tracker()])
            cases.append({"options": options, "overflows": pattern, "rows": rows})
    return cases


results = {f.__name__: f() for f in (plain, accumulation, gan, scaled, meta, scales)}
path = Path(__file__).parent / "recorded" / "training_loops.json"
path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in results.items()) + "\n}\n")
