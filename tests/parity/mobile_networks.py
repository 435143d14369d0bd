"""Records a training step of torchvision's MobileNetV2 and EfficientNet, without dropout and stochastic depth."""

from functools import partial

import torchvision
from formula import write
from torchvision_step import record


def main():
    models = torchvision.models
    mobilenet = partial(models.mobilenet_v2, width_mult=0.35, dropout=0)
    efficientnet = partial(models.efficientnet_b0, dropout=0, stochastic_depth_prob=0)
    cases = {
        "mobilenet_v2": record(mobilenet, 64, 2, 10, beta=2),
        "efficientnet_b0": record(efficientnet, 64, 2, 10, beta=2),
    }
    write("mobile_networks", cases, f"torchvision {torchvision.__version__}")


main()
