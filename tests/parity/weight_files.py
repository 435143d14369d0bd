"""Weight files in both directions between mezzo and torchvision, and a file of the reference library for the tests.

weight_files.py PROGRAM: torchvision's resnet18 is saved by Python's safetensors; PROGRAM (the build tree's
tests/test_models) loads it, compares logits and saves the weights again; that file is loaded into a new resnet18, with
strict=True but for num_batches_tracked, and compared bit by bit. Needs torch, torchvision, numpy, safetensors.

weight_files.py --record: writes recorded/reference.safetensors. Needs torch and safetensors.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

RECORDED = Path(__file__).parent / "recorded" / "reference.safetensors"
DTYPES = ["float32", "float64", "bfloat16", "float16", "int8", "int16", "int32", "int64", "uint8"]


def record():
    numbers = torch.arange(6).reshape(2, 3)
    tensors = {name: numbers.to(getattr(torch, name)) for name in DTYPES}
    tensors["bool"] = numbers % 2 == 1
    tensors["scalar"] = torch.tensor(-1.5)
    tensors["empty"] = torch.zeros(0, 3)
    tensors["layer.naïve"] = torch.tensor([7])
    save_file(tensors, RECORDED, metadata={"format": "pt", "made by": "safetensors"})
    print(f"{RECORDED.name}: {len(tensors)} tensors, {RECORDED.stat().st_size} bytes")


def random_resnet():
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.resnet18(num_classes=37).eval()
    for name, value in model.state_dict().items():
        if name.endswith(("running_mean", "bias")):
            value.normal_(0, 0.1)
        if name.endswith("running_var"):
            value.uniform_(0.5, 2)
    return model


def compare(program):
    torch.set_num_threads(1)
    model = random_resnet()
    with tempfile.TemporaryDirectory() as folder:
        save_file(model.state_dict(), f"{folder}/torch.safetensors", metadata={"format": "pt"})
        x = torch.randn(2, 3, 64, 64)
        with torch.no_grad():
            logits = model(x)
        save_file({"x": x.permute(0, 2, 3, 1).contiguous(), "logits": logits}, f"{folder}/expected.safetensors")
        subprocess.run([program, "--run_test=resnet_weight_files"], check=True,
                       env={**os.environ, "MEZZO_WEIGHT_FILES": folder})
        weights = load_file(f"{folder}/mezzo.safetensors")
    known = {n: v for n, v in model.state_dict().items() if n.endswith("num_batches_tracked")}
    fresh = type(model)(model.layer1[0].__class__, [2, 2, 2, 2], num_classes=37)
    fresh.load_state_dict({**weights, **known}, strict=True)
    assert set(weights) == set(model.state_dict()) - set(known)
    for name, value in weights.items():
        assert torch.equal(value, model.state_dict()[name]), name
    print(f"{len(weights)} tensors, equal after the way through mezzo")


if len(sys.argv) != 2:
    sys.exit(__doc__)
record() if sys.argv[1] == "--record" else compare(sys.argv[1])
