"""Folders of Hugging Face's transformers in both directions.

transformers_folders.py --record: writes recorded/folders: small random models of each family in folders, some of them
in shards, with inputs and outputs (expected.safetensors).

transformers_folders.py PROGRAM, with the build tree's tests/test_models as PROGRAM: makes such folders of new random
models, lets PROGRAM read them, compare outputs and save them again, and opens the new folders with transformers: no
missing, unexpected or mismatched weight, and equal outputs and configs.

Needs torch, transformers, safetensors.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

RECORDED = Path(__file__).parent / "recorded" / "folders"
SHARDS = "2KB"  # of the cases with this size
NOT_RECORDED = {"roberta", "distilbert"}  # to save bytes: their classifiers are

ENCODER = {"vocab_size": 13, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
           "intermediate_size": 12, "max_position_embeddings": 10}


DISTILBERT = {"vocab_size": 13, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 12, "max_position_embeddings": 10}
DECODER = {"vocab_size": 13, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
           "num_key_value_heads": 1, "intermediate_size": 12, "max_position_embeddings": 64}
GPT = {"vocab_size": 13, "n_positions": 10, "n_embd": 8, "n_layer": 2, "n_head": 2, "n_inner": 12}
LABELS = {0: "bad", 1: "so so", 2: "good"}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 40}  # with a head of 8: high, middle and low frequencies

# Changes of config.json, by model_type. Those of other layers leave the outputs as they are.
CHANGES = {
    "bert": {"heads": {"num_attention_heads": 4}, "activation": {"hidden_act": "relu"},
             "epsilon": {"layer_norm_eps": 0.1}, "tie": {"tie_word_embeddings": False}},
    "distilbert": {"heads": {"n_heads": 4}, "activation": {"activation": "relu"},
                   "tie": {"tie_word_embeddings": False}},
    "gpt2": {"heads": {"n_head": 4}, "activation": {"activation_function": "relu"},
             "epsilon": {"layer_norm_epsilon": 0.1}},
    "llama": {"activation": {"hidden_act": "relu"}, "epsilon": {"rms_norm_eps": 0.1}},
}
CHANGES["roberta"] = CHANGES["bert"]
CHANGES["qwen2"] = CHANGES["mistral"] = CHANGES["llama"]


def cases():
    """By name of the case: class of transformers, config, kind of inputs, size of shards."""
    small = {**ENCODER, "num_hidden_layers": 1}
    return {
        "bert": ("BertModel", transformers.BertConfig(hidden_act="gelu_new", layer_norm_eps=1e-7, **ENCODER), "pair",
                 SHARDS),
        "bert_classifier": ("BertForSequenceClassification", transformers.BertConfig(id2label=LABELS, **small), "pair",
                            None),
        "roberta": ("RobertaModel", transformers.RobertaConfig(**small), "padded", None),
        "roberta_classifier": ("RobertaForSequenceClassification",
                               transformers.RobertaConfig(id2label=LABELS, classifier_dropout=0.3, **small), "padded",
                               None),
        "distilbert": ("DistilBertModel", transformers.DistilBertConfig(**DISTILBERT), "mask", None),
        "distilbert_classifier": ("DistilBertForSequenceClassification",
                                  transformers.DistilBertConfig(id2label=LABELS, **DISTILBERT), "mask", None),
        "gpt": ("GPT2LMHeadModel", transformers.GPT2Config(**GPT), "ids", SHARDS),
        "llama": ("LlamaForCausalLM",
                  transformers.LlamaConfig(rope_parameters={"rope_theta": 500.0, **LLAMA3}, head_dim=8, **DECODER), "ids",
                  SHARDS),
        "qwen2": ("Qwen2ForCausalLM", transformers.Qwen2Config(tie_word_embeddings=True, **DECODER), "ids", None),
        "mistral": ("MistralForCausalLM", transformers.MistralConfig(sliding_window=4, head_dim=6, **DECODER), "ids",
                    None),
    }


def randomize(model):
    for name, value in model.named_parameters():
        spread = 0.1 if name.endswith("bias") else 0.3
        torch.nn.init.normal_(value, 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0, spread)
    return model.eval()


def inputs_of(kind, vocabulary):
    ids = torch.randint(2, vocabulary, (2, 7))
    mask = torch.tensor([[1] * 7, [1] * 5 + [0] * 2])
    if kind == "padded":
        ids[mask == 0] = 1
    if kind == "ids":
        return {"input_ids": ids}
    if kind in ("mask", "padded"):
        return {"input_ids": ids, "attention_mask": mask}
    return {"input_ids": ids, "attention_mask": mask,
            "token_type_ids": torch.tensor([[0, 0, 0, 1, 1, 1, 1], [0] * 7])}


def outputs_of(model, inputs):
    with torch.no_grad():
        out = model(**inputs)
    if hasattr(out, "logits"):
        return [out.logits]
    pooled = getattr(out, "pooler_output", None)
    return [out.last_hidden_state] + ([] if pooled is None else [pooled])


def open_changed(folder, kind, keys):
    """The model of a folder with other values in its config.json."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        path = Path(copy) / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))
        return getattr(transformers, kind).from_pretrained(copy, attn_implementation="eager").eval()


def write_case(folder, name, case):
    kind, settings, kind_of_inputs, shards = case
    torch.manual_seed(len(name))
    settings._attn_implementation = "eager"
    model = randomize(getattr(transformers, kind)(settings))
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, **({"max_shard_size": shards} if shards else {}))
    (folder / "generation_config.json").unlink(missing_ok=True)
    inputs = inputs_of(kind_of_inputs, settings.vocab_size)
    tensors = {f"x{i}": x.contiguous() for i, x in enumerate(inputs.values())}
    tensors |= {f"y{i}": y.contiguous() for i, y in enumerate(outputs_of(model, inputs))}
    for change, keys in CHANGES[settings.model_type].items():
        outputs = outputs_of(open_changed(folder, kind, keys), inputs)
        tensors |= {f"{change}.y{i}": y.contiguous() for i, y in enumerate(outputs)}
    save_file(tensors, folder / "expected.safetensors")
    return model, inputs


def record():
    for name, case in cases().items():
        if name in NOT_RECORDED:
            continue
        folder = RECORDED / name
        write_case(folder, name, case)
        print(f"{name}: {sum(path.stat().st_size for path in folder.iterdir())} bytes")


def check_back(name, folder, kind, model, inputs):
    """Opens a folder that mezzo saved."""
    again, found = getattr(transformers, kind).from_pretrained(folder, output_loading_info=True,
                                                              attn_implementation="eager")
    assert not any(found.values()), f"{name}: {found}"
    state = again.state_dict()
    for weight, value in model.state_dict().items():
        assert torch.equal(value, state[weight]), f"{name}: {weight}"
    for one, other in zip(outputs_of(again.eval(), inputs), outputs_of(model, inputs), strict=True):
        assert torch.equal(one, other), name
    before, after = model.config.to_dict(), again.config.to_dict()
    derived = {"_name_or_path", "transformers_version", "label2id"}
    differing = {key for key in before if before[key] != after.get(key)} - derived
    assert not differing, f"{name}: {({key: (before[key], after.get(key)) for key in differing})}"
    print(f"{name}: strict, equal outputs and config")


def compare(program):
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        written = {name: write_case(Path(folder) / name, name, case) for name, case in cases().items()}
        subprocess.run([program, "--run_test=pretrained_folders/transformers_folders_are_read_and_saved_again"],
                       check=True, env={**os.environ, "MEZZO_FOLDERS": folder})
        for name, (model, inputs) in written.items():
            check_back(name, Path(folder) / name / "mezzo", cases()[name][0], model, inputs)


if len(sys.argv) != 2:
    sys.exit(__doc__)
record() if sys.argv[1] == "--record" else compare(sys.argv[1])
