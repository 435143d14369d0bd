"""Times training steps of one workload in PyTorch, optionally with IPEX; prints one line of JSON.

It uses channels_last, fused AdamW and input that stays in memory. CONFIG is fp32 or bf16, then optionally compile or
ipex, joined by `+`.
"""

import argparse
import json
import os
import resource
import time
from typing import Callable, NamedTuple

import torch
from torch import nn
from torch.nn import functional
from transformer import Transformer


class Workload(NamedTuple):
    model: nn.Module
    x: torch.Tensor
    y: torch.Tensor
    items: int  # per step: images, sequences or tokens


GENERATOR = torch.Generator().manual_seed(0)


def labels(classes: int, *shape: int) -> torch.Tensor:
    return torch.randint(classes, shape, generator=GENERATOR)


def images(batch: int, channels: int, size: int) -> torch.Tensor:
    return torch.randn(batch, channels, size, size, generator=GENERATOR)


def perceptron(x: torch.Tensor, hidden: list[int]) -> Workload:
    sizes = [x[0].numel(), *hidden]
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in zip(sizes, hidden):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return Workload(nn.Sequential(*layers, nn.Linear(sizes[-1], 10)), x, labels(10, len(x)), len(x))


def mlp() -> Workload:
    return perceptron(images(128, 1, 28), [512, 512])


def mlp_wide() -> Workload:
    return perceptron(images(256, 1, 64), [4096] * 3)


def mlp_37() -> Workload:
    return perceptron(images(37, 1, 28), [512, 512])


def mlp_deep() -> Workload:
    return perceptron(torch.randn(128, 128, generator=GENERATOR), [128] * 40)


def mlp_shallow() -> Workload:
    return perceptron(images(61, 1, 28), [8192])


def cnn() -> Workload:
    model = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
                          nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.5), nn.Linear(1600, 10))
    return Workload(model, images(128, 1, 28), labels(10, 128), 128)


def resnet18() -> Workload:
    import torchvision
    return Workload(torchvision.models.resnet18(num_classes=37), images(32, 3, 224), labels(37, 32), 32)


def resnet50() -> Workload:
    import torchvision
    return Workload(torchvision.models.resnet50(num_classes=37), images(16, 3, 224), labels(37, 16), 16)


def mobilenet_v2() -> Workload:
    import torchvision
    return Workload(torchvision.models.mobilenet_v2(num_classes=37), images(16, 3, 224), labels(37, 16), 16)


def efficientnet_b0() -> Workload:
    import torchvision
    return Workload(torchvision.models.efficientnet_b0(num_classes=37), images(16, 3, 224), labels(37, 16), 16)


def texts(batch: int, length: int) -> Workload:
    return Workload(Transformer(30522, 512, 384, 12, 1536, 6, classes=2), labels(30522, batch, length),
                    labels(2, batch), batch)


def minilm() -> Workload:
    return texts(16, 128)


def minilm_short() -> Workload:
    return texts(13, 19)


def gptchar() -> Workload:
    return Workload(Transformer(65, 64, 128, 4, 512, 4), labels(65, 12, 64), labels(65, 12 * 64), 12 * 64)


def bert() -> Workload:
    return Workload(Transformer(30522, 512, 768, 12, 3072, 12, classes=2), labels(30522, 8, 128), labels(2, 8), 8)


def gpt2() -> Workload:
    return Workload(Transformer(50257, 1024, 768, 12, 3072, 12), labels(50257, 4, 64), labels(50257, 4 * 64), 4 * 64)


class Recurrent(nn.Module):
    """A classifier of the state after the last step. The batch is the first axis, as in Keras."""

    def __init__(self, layer: type[nn.RNNBase]) -> None:
        super().__init__()
        self.layer = layer(128, 128, batch_first=True)
        self.head = nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(x)[0][:, -1])


def sequences(layer: type[nn.RNNBase], batch: int = 64, steps: int = 120) -> Workload:
    return Workload(Recurrent(layer), torch.randn(batch, steps, 128, generator=GENERATOR), labels(10, batch), batch)


def lstm() -> Workload:
    return sequences(nn.LSTM)


def lstm_short() -> Workload:
    return sequences(nn.LSTM, 37, 9)


def gru() -> Workload:
    return sequences(nn.GRU)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "mlp": mlp, "mlp_wide": mlp_wide, "cnn": cnn, "resnet18": resnet18, "mobilenet_v2": mobilenet_v2,
    "efficientnet_b0": efficientnet_b0, "minilm": minilm, "gptchar": gptchar, "resnet50": resnet50, "bert": bert,
    "gpt2": gpt2, "lstm": lstm, "gru": gru, "mlp_37": mlp_37, "mlp_deep": mlp_deep, "mlp_shallow": mlp_shallow,
    "minilm_short": minilm_short, "lstm_short": lstm_short}


def make_step(workload: Workload, config: set[str]) -> Callable[[], torch.Tensor]:
    """Returns a function that makes one training step and returns its loss."""
    model, x, y = workload.model.train(), workload.x, workload.y
    bf16 = "bf16" in config
    if x.dim() == 4:
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    ipex = "ipex" in config
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **({} if ipex else {"fused": True}))
    if ipex:
        import intel_extension_for_pytorch
        dtype = torch.bfloat16 if bf16 else torch.float32
        model, optimizer = intel_extension_for_pytorch.optimize(model, optimizer=optimizer, dtype=dtype)
    if "compile" in config:
        model = torch.compile(model)

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
            loss = functional.cross_entropy(model(x).float(), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("config", help="fp32 or bf16, then +compile, +ipex")
    parser.add_argument("--seconds", type=float, default=6, help="duration of the timed steps, at least 5 of them")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    workload = WORKLOADS[arguments.workload]()
    step = make_step(workload, set(arguments.config.split("+")))

    start = time.perf_counter()
    loss = step()
    first = time.perf_counter() - start
    for _ in range(3):
        step()
    times: list[float] = []
    end = time.perf_counter() + arguments.seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - start)
    times.sort()
    median = times[len(times) // 2]
    print(json.dumps({
        "framework": f"torch {torch.__version__}",
        "workload": arguments.workload,
        "config": arguments.config,
        "per_s": round(workload.items / median, 1),
        "best": round(workload.items / times[0], 1),
        "ms": round(median * 1e3, 3),
        "mean_ms": round(sum(times) / len(times) * 1e3, 3),
        "first_s": round(first, 3),
        "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "loss": round(float(loss), 4),
    }))


if __name__ == "__main__":
    main()
