"""Writes tutorials/fashion_cnn.onnx: a small CNN that PyTorch trained on 3,000 pictures of Fashion-MNIST.

    python tests/parity/fashion_cnn.py

Needs torch 2.8.0 and onnx 1.23.2. tutorials/onnx.ipynb trains the file on with mezzo.
"""
import gzip
import pathlib

import numpy as np
import torch

FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
FILE = pathlib.Path(__file__).resolve().parents[2] / "tutorials" / "fashion_cnn.onnx"


def numbers(name, header, shape):
    path = next(FOLDER.rglob(name + "*"))
    content = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=header).reshape(shape).copy())


def main():
    torch.manual_seed(0)
    images = numbers("train-images", 16, (-1, 1, 28, 28))[:3000].float() / 255
    labels = numbers("train-labels", 8, (-1,))[:3000].long()
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 12, 3), torch.nn.BatchNorm2d(12), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(12, 24, 3), torch.nn.BatchNorm2d(24), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(600, 10))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for begin in range(0, len(images), 50):
        loss = torch.nn.functional.cross_entropy(model(images[begin:begin + 50]), labels[begin:begin + 50])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.train()  # keeps BatchNormalization, which mezzo trains on
    torch.onnx.export(model, (images[:2],), str(FILE), input_names=["image"], output_names=["logits"], dynamo=False,
                      dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}},
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)


if __name__ == "__main__":
    main()
