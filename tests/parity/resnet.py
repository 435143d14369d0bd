"""Records a training step of torchvision's ResNets."""

import torchvision
from formula import write
from torchvision_step import record


def main():
    models = torchvision.models
    cases = {
        "resnet18_224": record(models.resnet18, 224, 4, 37, beta=2),
        "resnet18_64": record(models.resnet18, 64, 2, 37, beta=2),
        "resnet50_64": record(models.resnet50, 64, 2, 10, beta=0),
    }
    write("resnet", cases, f"torchvision {torchvision.__version__}")


main()
