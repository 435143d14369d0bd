"""Data, weights and the module of the recipes (recipes.hpp has the same)."""

import os
import sys
import tempfile
import warnings
from pathlib import Path

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).parent.parent))

from hashed_numbers import numbers  # noqa: E402

warnings.filterwarnings("ignore")


def uniform(stream, shape, low=-1.0, high=1.0):
    """Numbers of 24 bits, exact in float32, by a formula of stream and index."""
    u = numbers(stream, np.prod(shape))
    return (low + (high - low) * (u + 1) / 2).astype(np.float32).reshape(shape)


def points(count, stream):
    """Points of 4 coordinates in 3 classes."""
    x = uniform(stream, (count, 4))
    y = np.where(x[:, 0] > 0.25, 0, np.where(x[:, 1] > 0, 1, 2))
    return TensorDataset(torch.tensor(x), torch.tensor(y))


def train_data():
    return DataLoader(points(48, 1), batch_size=8)


def val_data():
    return DataLoader(points(16, 2), batch_size=8)


def initialize(module, stream=100):
    """Sets all weights in Keras' order and layouts, and returns their shapes."""
    shapes = []
    for layer in module.modules():
        if not isinstance(layer, nn.Linear):
            continue
        shape = (layer.in_features, layer.out_features)
        kernel = (uniform(stream, shape).astype(np.float64) * np.sqrt(3 / shape[0])).astype(np.float32)
        bias = (uniform(stream + 1, shape[1:]).astype(np.float64) * 0.1).astype(np.float32)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(kernel.T.copy()))
            layer.bias.copy_(torch.tensor(bias))
        shapes += [list(shape), [shape[1]]]
        stream += 2
    return shapes


class Classifier(L.LightningModule):
    def __init__(self, learning_rate=0.5):
        super().__init__()
        self.learning_rate = learning_rate
        self.l1 = nn.Linear(4, 8)
        self.l2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.l2(torch.relu(self.l1(x)))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", F.cross_entropy(self(x), y))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.learning_rate)


class in_folder:
    """Makes a temporary folder the current one in a `with` statement."""

    def __enter__(self):
        self.before, self.folder = os.getcwd(), tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)
        return Path(self.folder.name)

    def __exit__(self, *_):
        os.chdir(self.before)
        self.folder.cleanup()


def score(model):
    """The mean loss on the validation data, after the training."""
    model.eval()
    with torch.no_grad():
        x, y = val_data().dataset.tensors
        return float(F.cross_entropy(model(x), y))


def name_of(path):
    return Path(path).name
