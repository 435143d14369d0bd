"""Records a Wasserstein GAN trained by PyTorch in float64: the critic takes five updates in each step of the generator.

Both are MLPs of one hidden layer. The learning rate of both optimizers decays with each of their own updates.
"""

import json
from pathlib import Path

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

STEPS, SAMPLES, CRITIC_UPDATES, DECAY = 4, 6, 5, 0.95
BETA_2, EPSILON = 0.9, 1e-3


def numbers(seed, shape):
    return torch.from_numpy(np.round(np.random.default_rng(seed).uniform(-1, 1, shape), 2))


class Network(nn.Module):
    def __init__(self, units, seed):
        super().__init__()
        self.hidden, self.head = nn.Linear(2, 4), nn.Linear(4, units)
        for i, weight in enumerate(self.parameters()):
            weight.data = numbers(seed + i, weight.shape)

    def forward(self, x):
        return self.head(torch.tanh(self.hidden(x)))

    def kernels(self):
        """Kernels as in Keras, inputs first."""
        return [w.T if w.dim() == 2 else w for w in self.parameters()]


def clip(weights, bound):
    """Scales gradients whose common norm is above the bound."""
    norm = torch.sqrt(sum((w.grad**2).sum() for w in weights))
    for w in weights:
        w.grad *= bound / max(bound, norm)


def train(make, clipnorm=None, clamp=None):
    generator, critic = Network(2, 10), Network(1, 20)
    optimizers = [make(network.parameters()) for network in (generator, critic)]
    schedules = [torch.optim.lr_scheduler.ExponentialLR(optimizer, DECAY) for optimizer in optimizers]
    losses = []

    def update(loss, index):
        network, optimizer = (generator, critic)[index], optimizers[index]
        optimizer.zero_grad()
        loss.backward()
        for group in optimizer.param_groups:
            if "eps" in group:  # of Keras, which adds it to the root of the uncorrected moment
                group["eps"] = EPSILON / (1 - BETA_2 ** (schedules[index].last_epoch + 1)) ** 0.5
        if clipnorm:
            clip(list(network.parameters()), clipnorm)
        optimizer.step()
        schedules[index].step()

    for step in range(STEPS):
        z, real = numbers(1000 + step, (SAMPLES, 2)), numbers(2000 + step, (SAMPLES, 2))
        for _ in range(CRITIC_UPDATES):
            critic_loss = critic(generator(z).detach()).mean() - critic(real).mean()
            update(critic_loss, 1)
            if clamp:
                critic.hidden.weight.data.clamp_(-clamp, clamp)
        generator_loss = -critic(generator(z)).mean()
        update(generator_loss, 0)
        losses.append([critic_loss.item(), generator_loss.item()])
    weights = [w.detach().flatten().tolist() for network in (generator, critic) for w in network.kernels()]
    return {"losses": losses, "weights": weights}


def adam(weights):
    return torch.optim.Adam(weights, lr=0.02, betas=(0.5, BETA_2))


def sgd(weights):
    return torch.optim.SGD(weights, lr=0.2)


recorded = {
    "start": [w.detach().flatten().tolist() for n in (Network(2, 10), Network(1, 20)) for w in n.kernels()],
    "z": [numbers(1000 + step, (SAMPLES, 2)).tolist() for step in range(STEPS)],
    "real": [numbers(2000 + step, (SAMPLES, 2)).tolist() for step in range(STEPS)],
    "adam": train(adam),
    "clipnorm": train(adam, clipnorm=0.3),
    "clamp": train(sgd, clamp=0.75),
    "sgd": train(sgd),
}
lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in recorded.items()]
(Path(__file__).parent / "recorded" / "wgan.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
