"""Trains models that torch.onnx exported, in PyTorch and by load_onnx, and compares the losses of 20 steps.

    python tests/parity/onnx_torch.py build/tests/test_onnx

Needs torch 2.8.0, torchvision 0.23.0, onnx 1.23.2 and onnxscript 0.7.2. The models are torchvision's ResNet-18 and a
transformer for texts, with random weights; each is written by both exporters, that of torch.export (dynamo) and the
older one (trace), and trained by SGD with momentum on batches of random numbers.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import torch
import torchvision

STEPS = 20
MOMENTUM = 0.9


class TextClassifier(torch.nn.Module):
    """Words and positions, two encoder layers, the mean over the words, and a linear layer."""

    def __init__(self, words=50, length=12, width=32, classes=5):
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.positions = torch.nn.Parameter(torch.randn(length, width) * 0.1)
        layer = torch.nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.words(ids) + self.positions).mean(1))


def resnet18():
    # At a rate of 0.0001 the losses of PyTorch itself in float32 and float64 differ by 0.0006.
    batches = torch.randn(STEPS, 16, 3, 64, 64), torch.randint(0, 10, (STEPS, 16))
    return torchvision.models.resnet18(num_classes=10), *batches, 0.00001


def transformer():
    return TextClassifier(), torch.randint(0, 50, (STEPS, 8, 12)), torch.randint(0, 5, (STEPS, 8)), 0.05


def export(model, x, exporter, path):
    """Writes the model as it trains: without merging normalization into convolutions."""
    if exporter == "dynamo":
        model.eval()  # in training mode this exporter writes batch norm as its parts
        torch.onnx.export(model, (x,), str(path), input_names=["x"], output_names=["y"], dynamo=True, optimize=False,
                          external_data=False)
    else:
        model.train()
        torch.onnx.export(model, (x,), str(path), input_names=["x"], output_names=["y"], dynamo=False,
                          training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)


def losses_of(model, xs, ys, rate):
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=MOMENTUM)
    losses = []
    for x, y in zip(xs, ys):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    options = parser.parse_args()
    torch.backends.mha.set_fastpath_enabled(False)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for make in (resnet18, transformer):
            for exporter in ("trace", "dynamo"):
                torch.manual_seed(0)
                model, xs, ys, rate = make()
                case = pathlib.Path(folder) / f"{make.__name__}_{exporter}"
                case.mkdir()
                export(model, xs[0], exporter, case / "model.onnx")
                np.save(case / "x.npy", xs.numpy())
                np.save(case / "y.npy", ys.numpy())
                np.save(case / "rate.npy", np.array(rate))
                np.save(case / "losses.npy", np.array(losses_of(model, xs, ys, rate)))
        environment = {**os.environ, "MEZZO_ONNX_TRAININGS": folder}
        subprocess.run([options.program, "--run_test=onnx_trainings", "--log_level=message"], env=environment,
                       check=True)


if __name__ == "__main__":
    main()
