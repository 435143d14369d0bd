"""Records small files of torch.save() and of safetensors with all dtypes, in recorded/tensor_files, for the readers.

NAME.pt is a file of torch, NAME.safetensors beside it has the tensors that it holds, contiguous and by the names that
mezzo gives them. refused/ has files that mezzo refuses. model.safetensors.index.json and its shards are those of one
model; float8.safetensors has dtypes that mezzo reads as bytes.
"""

import collections
import json
import shutil
import zipfile
from pathlib import Path

import safetensors
import torch
from safetensors.torch import save_file

FOLDER = Path(__file__).parent / "recorded" / "tensor_files"
DTYPES = ["float32", "float64", "bfloat16", "float16", "int8", "int16", "int32", "int64", "uint8", "bool"]


def flat(value, prefix=""):
    """Tensors by name: keys joined by dots."""
    if isinstance(value, torch.Tensor):
        return {prefix[:-1]: value.detach().clone().contiguous()}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    out = {}
    for key, item in items:
        out |= flat(item, f"{prefix}{key}.")
    return out


def save_both(name, value, **options):
    torch.save(value, FOLDER / f"{name}.pt", **options)
    save_file(flat(value), FOLDER / f"{name}.safetensors")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 2)
        self.bn = torch.nn.BatchNorm2d(3)
        self.fc = torch.nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(self.bn(self.conv(x)).mean((2, 3)))


def tensors():
    numbers = torch.arange(24).reshape(2, 3, 4)
    out = {name: (numbers % 2 == 1) if name == "bool" else numbers.to(getattr(torch, name)) for name in DTYPES}
    base = torch.arange(60, dtype=torch.float32).reshape(3, 4, 5)
    return out | {
        "transposed": base.permute(2, 0, 1), "strided": base[::2, 1:, ::3], "row": base[1, 2], "scalar": base[2, 3, 4],
        "empty": torch.zeros(0, 3), "größe": torch.tensor([1.5]), "parameter": torch.nn.Parameter(base[0]),
        "half of it": base.flatten()[30:].to(torch.bfloat16)}


def repacked(path, change=lambda name, data: (name, data), compression=zipfile.ZIP_STORED):
    """The archive again, after change(name, data) of each entry."""
    with zipfile.ZipFile(path) as archive:
        entries = [change(name, archive.read(name)) for name in archive.namelist()]
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)


def write_torch():
    torch.manual_seed(0)
    net = Net()
    for name, value in net.state_dict().items():
        if value.is_floating_point():
            value.normal_()
    save_both("tensors", tensors())
    save_both("state_dict", net.state_dict())
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.randn(2, 2, 4, 4)).sum().backward()
    optimizer.step()
    save_both("checkpoint", {"epoch": 3, "loss": 0.5, "name": "größe", "best": None, "done": True, "big": 2**40,
                             "negative": -5, "shape": (2, 3), "state_dict": net.state_dict(),
                             "optimizer": optimizer.state_dict(), "losses": [torch.ones(2), 1.0, [torch.zeros(1)]]})
    save_both("one_tensor", torch.arange(3.0))
    save_both("protocol_4", dict(net.state_dict()), pickle_protocol=4)
    save_both("wrapped", {f"module._orig_mod.{name}": value for name, value in net.state_dict().items()})
    save_both("deflated", {"x": torch.zeros(100), "y": torch.arange(3)})
    repacked(FOLDER / "deflated.pt", compression=zipfile.ZIP_DEFLATED)
    torch.save({"complex": torch.tensor([1 + 2j]), "x": torch.ones(2)}, FOLDER / "complex.pt")


def write_refused():
    folder = FOLDER / "refused"
    folder.mkdir()
    torch.save(Net(), folder / "model.pt")
    torch.save({"x": torch.ones(2)}, folder / "old.pt", _use_new_zipfile_serialization=False)
    torch.save({"x": torch.ones(2).to(torch.float8_e4m3fn)}, folder / "float8.pt")
    torch.save({"device": torch.device("cpu")}, folder / "device.pt")
    torch.save({"x": torch.ones(2).to_sparse()}, folder / "sparse.pt")
    torch.save({"x": torch.ones(1).expand(1000)}, folder / "expanded.pt")
    torch.jit.script(torch.nn.Linear(2, 2)).save(str(folder / "script.pt"))

    def big(name, data):
        return (name, b"big") if name.endswith("byteorder") else (name, data)

    torch.save({"x": torch.ones(2)}, folder / "big_endian.pt")
    repacked(folder / "big_endian.pt", big)

    class Attack:
        def __reduce__(self):
            return print, ("executed",)

    torch.save({"x": Attack()}, folder / "attack.pt")


def write_safetensors():
    numbers = torch.arange(6).reshape(2, 3)
    odd = {"F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2, "F8_E4M3FNUZ": torch.float8_e4m3fnuz,
           "F8_E5M2FNUZ": torch.float8_e5m2fnuz, "U16": torch.uint16, "U32": torch.uint32, "U64": torch.uint64,
           "C64": torch.complex64}
    save_file({name: numbers.to(torch.float32).to(dtype) for name, dtype in odd.items()} | {"F32": numbers.float()},
              FOLDER / "float8.safetensors")
    state = Net().state_dict()
    names, weight_map = list(state), {}
    for i in range(3):
        shard = f"model-{i + 1:05d}-of-00003.safetensors"
        part = {name: state[name] for name in names[i::3]}
        save_file(part, FOLDER / shard, metadata={"format": "pt"})
        weight_map |= {name: shard for name in part}
    save_file(state, FOLDER / "whole.safetensors")
    (FOLDER / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": sum(x.nbytes for x in state.values())}, "weight_map": weight_map},
                   indent=2, sort_keys=True) + "\n")
    weight_map = {}
    for i in range(2):
        shard = f"pytorch_model-{i + 1:05d}-of-00002.bin"
        part = collections.OrderedDict((name, state[name]) for name in names[i::2])
        torch.save(part, FOLDER / shard)
        weight_map |= {name: shard for name in part}
    (FOLDER / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}) + "\n")


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir()
write_torch()
write_refused()
write_safetensors()
size = sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file())
print(f"{FOLDER.name}: {size} bytes, torch {torch.__version__}, safetensors {safetensors.__version__}")
