"""Adapters of Hugging Face's PEFT in both directions.

peft_adapters.py --record: writes recorded/adapters: adapters of PEFT for the models of recorded/folders, with inputs,
outputs and the first ten losses of a training of theirs (expected.safetensors).

peft_adapters.py PROGRAM, with the build tree's tests/test_models as PROGRAM: makes such adapters of new random numbers,
lets PROGRAM read them, compare outputs and losses and save them again, and opens the new folders with PEFT: equal
outputs.

Needs torch, transformers, peft, safetensors.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import peft
import torch
import transformers
from safetensors.torch import save_file

FOLDERS = Path(__file__).parent / "recorded" / "folders"
RECORDED = Path(__file__).parent / "recorded" / "adapters"
STEPS = 10

# By name of the adapter: folder of the base model, class of transformers, config of PEFT.
CASES = {
    "gpt": ("gpt", "GPT2LMHeadModel",
            {"r": 2, "lora_alpha": 6, "target_modules": ["c_attn", "mlp.c_proj"], "fan_in_fan_out": True,
             "task_type": "CAUSAL_LM"}),
    "gpt_table": ("gpt", "GPT2LMHeadModel",
                  {"r": 3, "lora_alpha": 3, "target_modules": ["wpe", "c_fc"], "use_rslora": True}),
    "llama": ("llama", "LlamaForCausalLM",
              {"r": 2, "lora_alpha": 8, "target_modules": r".*\.(q_proj|v_proj|down_proj)",
               "rank_pattern": {"v_proj": 3}, "alpha_pattern": {"v_proj": 5}}),
    "bert": ("bert_classifier", "BertForSequenceClassification",
             {"r": 2, "lora_alpha": 4, "target_modules": ["query", "value"], "lora_dropout": 0.0}),
}


def randomize(model):
    generator = torch.Generator().manual_seed(3)
    for name, weight in model.named_parameters():
        if "lora_" in name:
            weight.data = (torch.randn(weight.shape, generator=generator) * 0.3).round(decimals=3)


def outputs(model, ids):
    with torch.no_grad():
        return model.eval()(input_ids=ids).logits.contiguous()


def losses(model, ids):
    """Losses of STEPS steps of gradient descent on the mean of the squared logits."""
    out = []
    model.train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    weights = [w for w in model.parameters() if w.requires_grad]
    optimizer = torch.optim.SGD(weights, lr=0.05)
    for _ in range(STEPS):
        loss = model(input_ids=ids).logits.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    return torch.tensor(out)


def make(name, folder):
    base, kind, options = CASES[name]
    torch.manual_seed(1)
    model = getattr(transformers, kind).from_pretrained(FOLDERS / base, dtype=torch.float32)
    adapted = peft.get_peft_model(model, peft.LoraConfig(**options))
    randomize(adapted)
    ids = torch.randint(0, 13, (2, 6), generator=torch.Generator().manual_seed(5))
    expected = {"x0": ids, "y0": outputs(adapted, ids)}
    adapted.save_pretrained(folder)
    for extra in ("README.md",):
        if os.path.exists(folder / extra):
            os.remove(folder / extra)
    path = folder / "adapter_config.json"
    config = json.loads(path.read_text())
    config["base_model_name_or_path"] = base
    for key in ("target_modules",):
        if isinstance(config[key], list):
            config[key].sort()
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    expected["losses"] = losses(adapted, ids)
    save_file(expected, folder / "expected.safetensors")
    return expected


def check_saved(name, folder, expected):
    base, kind, _ = CASES[name]
    model = getattr(transformers, kind).from_pretrained(FOLDERS / base, dtype=torch.float32)
    adapted = peft.PeftModel.from_pretrained(model, folder)
    off = (outputs(adapted, expected["x0"]) - expected["y0"]).abs().max().item()
    assert off < 1e-5, f"{name}: outputs of the saved adapters are off by {off}"
    print(f"{name}: saved adapters give PEFT outputs that are off by {off:.1e}")


def main():
    if sys.argv[1:] == ["--record"]:
        shutil.rmtree(RECORDED, ignore_errors=True)
        for name in CASES:
            (RECORDED / name).mkdir(parents=True)
            make(name, RECORDED / name)
        print(f"adapters: {len(CASES)} folders, PEFT {peft.__version__}")
        return
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        expected = {}
        for name in CASES:
            (Path(folder) / name).mkdir()
            expected[name] = make(name, Path(folder) / name)
        environment = {**os.environ, "MEZZO_ADAPTERS": folder}
        subprocess.run([program, "--run_test=adapter_files"], check=True, env=environment)
        for name in CASES:
            check_saved(name, Path(folder) / name / "saved", expected[name])


main()
