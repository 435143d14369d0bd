"""Weight files in both directions between mezzo and torch, and files of the reference library for the tests.

weight_files.py PROGRAM, with the build tree's tests/test_models as PROGRAM:
1. Python's safetensors saves torchvision's resnet18 and vision transformer, Hugging Face's BERT and GPT-2.
2. PROGRAM loads the files, compares outputs and saves the weights again.
3. The new files are loaded into the models, with strict=True (except num_batches_tracked), and compared bit by bit.

weight_files.py --record: writes recorded/reference.safetensors, and recorded/weight_files with the files of step 1 except
those of resnet18, which are large.

Both need torch, torchvision, transformers, safetensors.
"""

import os
import shutil
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
    for name, (model, inputs, call, _) in models().items():
        if name == "resnet18":
            continue
        folder = RECORDED.parent / "weight_files" / name
        shutil.rmtree(folder, ignore_errors=True)
        write_case(folder, model.eval(), inputs, call)
        print(f"{name}: {sum(path.stat().st_size for path in folder.iterdir())} bytes, torch {torch.__version__}")


def random_resnet():
    import torchvision

    model = torchvision.models.resnet18(num_classes=37)
    for name, value in model.state_dict().items():
        if name.endswith(("running_mean", "bias")):
            value.normal_(0, 0.1)
        if name.endswith("running_var"):
            value.uniform_(0.5, 2)
    return model


def models():
    """For each case: the model, inputs, a function from inputs to outputs, the module whose weights mezzo saves."""
    import torchvision
    import transformers
    from small import BERT, GPT, VIT

    torch.manual_seed(0)
    ids = torch.randint(0, 17, (2, 7))
    mask, types = torch.tensor([[1] * 7, [0, 1, 1, 0, 1, 0, 0]]), torch.tensor([[0, 0, 0, 1, 1, 1, 1], [0] * 7])
    resnet, vit = random_resnet(), torchvision.models.VisionTransformer(**VIT)
    torch.nn.init.normal_(vit.heads.head.weight)
    torch.nn.init.normal_(vit.class_token)
    bert = transformers.BertModel(transformers.BertConfig(**BERT))
    gpt = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT))

    def channels_last(model):
        return lambda x: [model(x.permute(0, 3, 1, 2))]

    return {
        "resnet18": (resnet, [torch.randn(2, 64, 64, 3)], channels_last(resnet), resnet),
        "vit": (vit, [torch.randn(2, 8, 8, 3)], channels_last(vit), vit),
        "bert": (bert, [ids, mask, types],
                 lambda ids, mask, types: bert(ids, attention_mask=mask, token_type_ids=types).to_tuple(), bert),
        "gpt": (gpt, [ids], lambda ids: [gpt(ids).logits], gpt.transformer),
    }


def write_case(folder, model, inputs, call):
    folder.mkdir(parents=True)
    # Copies, since GPT-2's lm_head and wte share memory.
    state = {name: value.clone() for name, value in model.state_dict().items()}
    save_file(state, folder / "torch.safetensors", metadata={"format": "pt"})
    with torch.no_grad():
        outputs = call(*inputs)
    tensors = {f"x{i}": x.contiguous() for i, x in enumerate(inputs)} | {f"y{i}": y for i, y in enumerate(outputs)}
    save_file(tensors, folder / "expected.safetensors")


def check_back(name, path, inner):
    weights = load_file(path)
    before = {n: v.clone() for n, v in inner.state_dict().items()}
    known = {n: v for n, v in before.items() if n.endswith("num_batches_tracked")}
    for value in inner.state_dict().values():
        value.zero_()
    inner.load_state_dict({**weights, **known}, strict=True)
    assert set(weights) == set(before) - set(known)
    for n, value in inner.state_dict().items():
        assert torch.equal(value, before[n]), f"{name}: {n}"
    print(f"{name}: {len(weights)} tensors, equal after the way through mezzo")


def compare(program):
    torch.set_num_threads(1)
    cases = models()
    with tempfile.TemporaryDirectory() as folder:
        for name, (model, inputs, call, _) in cases.items():
            write_case(Path(folder) / name, model.eval(), inputs, call)
        subprocess.run([program, "--run_test=weight_files/torchs_files_are_loaded_and_saved_again"], check=True,
                       env={**os.environ, "MEZZO_WEIGHT_FILES": folder})
        for name, (_, _, _, inner) in cases.items():
            check_back(name, Path(folder) / name / "mezzo.safetensors", inner)


if len(sys.argv) != 2:
    sys.exit(__doc__)
record() if sys.argv[1] == "--record" else compare(sys.argv[1])
