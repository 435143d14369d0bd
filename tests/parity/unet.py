"""Records a training step of U-Net in torch, with the structure and the names of milesial's Pytorch-UNet."""

from functools import partial

import torch
from formula import write
from torch import nn
from torchvision_step import record


def double_conv(channels, middle, filters):
    layers = []
    for before, after in ((channels, middle), (middle, filters)):
        layers += [nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()]
    block = nn.Module()
    block.double_conv = nn.Sequential(*layers)
    block.forward = block.double_conv.forward
    return block


def down(channels, filters):
    block = nn.Module()
    block.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), double_conv(channels, filters, filters))
    return block


class Up(nn.Module):
    def __init__(self, channels, filters, bilinear):
        super().__init__()
        half = channels // 2
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        else:
            self.up = nn.ConvTranspose2d(channels, half, kernel_size=2, stride=2)
        self.conv = double_conv(channels, half if bilinear else filters, filters)

    def forward(self, x, larger):
        x = self.up(x)
        down, right = (a - b for a, b in zip(larger.shape[2:], x.shape[2:]))
        x = nn.functional.pad(x, [right // 2, right - right // 2, down // 2, down - down // 2])
        return self.conv(torch.cat([larger, x], dim=1))


class UNet(nn.Module):
    """Returns logits of all pixels, (batch * height * width, classes)."""

    def __init__(self, num_classes, width, bilinear):
        super().__init__()
        factor = 2 if bilinear else 1
        self.inc = double_conv(3, width, width)
        for i in range(1, 5):
            self.add_module(f"down{i}", down(width << i - 1, (width << i) // (factor if i == 4 else 1)))
        for i in range(1, 5):
            channels = width << 5 - i
            self.add_module(f"up{i}", Up(channels, channels // 2 // (1 if i == 4 else factor), bilinear))
        self.outc = nn.Module()
        self.outc.conv = nn.Conv2d(width, num_classes, 1)

    def forward(self, x):
        maps = [self.inc.double_conv(x)]
        for i in range(1, 5):
            maps.append(getattr(self, f"down{i}").maxpool_conv(maps[-1]))
        y = maps[-1]
        for i in range(1, 5):
            y = getattr(self, f"up{i}")(y, maps[4 - i])
        y = self.outc.conv(y)
        return y.permute(0, 2, 3, 1).reshape(-1, y.shape[1])


def main():
    # At size 21 two maps of the way up are padded.
    cases = {
        "transposed": record(partial(UNet, width=4, bilinear=False), 21, 2, 3, beta=2),
        "bilinear": record(partial(UNet, width=4, bilinear=True), 21, 2, 3, beta=2),
        "even": record(partial(UNet, width=4, bilinear=True), 32, 1, 3, beta=2),
    }
    write("unet", cases, f"torch {torch.__version__}")


main()
