"""Folders of transformers and timm with models for images, in both directions.

vision_folders.py --record: writes recorded/vision_folders.json: configs, names of weights and outputs of small models
whose weights have the formula of formula.py.

vision_folders.py PROGRAM, with the build tree's tests/test_models as PROGRAM: makes folders of models with random
weights, those of transformers in shards, lets PROGRAM read them, compare outputs and save them again, and opens the new
folders with transformers and timm: strict, with equal outputs and configs.

Needs torch, torchvision, transformers, timm, safetensors.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import timm
import torch
import transformers
from formula import IMAGES, weight, write
from hashed_numbers import numbers
from safetensors.torch import load_file, save_file

VIT = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12, "image_size": 12,
       "patch_size": 4}


def of_transformers(kind, config, size, channels=3, **options):
    config = getattr(transformers, config)(num_channels=channels, **options)
    config._attn_implementation = "eager"
    return getattr(transformers, kind)(config).eval(), (2, size, size, channels)


def of_timm(name, size, **options):
    model = timm.create_model(name, **options).eval()
    return model, (2, size, size, options.get("in_chans", 3))


def cases():
    """By name of the case: model and shape of its images."""
    labels = {"id2label": {0: "cat", 1: "dog", 2: "hen"}, "label2id": {"cat": 0, "dog": 1, "hen": 2}}
    resnet = {"embedding_size": 4, "depths": [1, 2, 1, 1], **labels}
    return {
        "vit": of_transformers("ViTModel", "ViTConfig", 12, **VIT, hidden_act="gelu_new", layer_norm_eps=1e-5,
                               pooler_output_size=6),
        "vit_classifier": of_transformers("ViTForImageClassification", "ViTConfig", 12, channels=1, **VIT, **labels,
                                          qkv_bias=False, hidden_act="relu"),
        "resnet_basic": of_transformers("ResNetForImageClassification", "ResNetConfig", 33, **resnet,
                                        hidden_sizes=[4, 8, 8, 12], layer_type="basic"),
        "resnet_bottleneck": of_transformers("ResNetForImageClassification", "ResNetConfig", 64, channels=1, **resnet,
                                             hidden_sizes=[8, 16, 16, 24], layer_type="bottleneck"),
        "mobilenet_v2": of_transformers("MobileNetV2ForImageClassification", "MobileNetV2Config", 64, **labels,
                                        depth_multiplier=0.35),
        "mobilenet_v2_odd": of_transformers("MobileNetV2ForImageClassification", "MobileNetV2Config", 45, **labels,
                                            depth_multiplier=0.35, tf_padding=False, layer_norm_eps=1e-5),
        "timm_resnet18": of_timm("resnet18", 64, num_classes=5),
        "timm_resnet50": of_timm("resnet50", 32, num_classes=5, in_chans=1),
        "timm_mobilenetv2_035": of_timm("mobilenetv2_035", 45, num_classes=5),
    }


def images(shape):
    return torch.from_numpy(numbers(IMAGES, int(np.prod(shape))).reshape(shape).astype(np.float32)).permute(0, 3, 1, 2)


def outputs_of(model, shape):
    with torch.no_grad():
        out = model(images(shape).to(next(model.parameters()).dtype))
    if isinstance(out, torch.Tensor):
        return [out]
    if hasattr(out, "logits"):
        return [out.logits]
    return [out.last_hidden_state, out.pooler_output]


def set_weights(path, beta):
    """Fills the weights in a file by the formula. Returns their names, which transformers changes, and shapes."""
    state, found = load_file(path), []
    for name in sorted(state):
        if name.endswith("num_batches_tracked"):
            continue
        shape = tuple(state[name].shape)
        state[name] = weight(name, shape, len(found), beta).float()
        found.append([name, list(shape)])
    save_file(state, path, metadata={"format": "pt"})
    return found


def write_folder(model, folder, max_shard_size):
    if isinstance(model, transformers.PreTrainedModel):
        model.save_pretrained(folder, max_shard_size=max_shard_size)
        return
    # timm's own function wants a repository on the hub.
    folder.mkdir()
    save_file(model.state_dict(), folder / "model.safetensors", metadata={"format": "pt"})
    config = {"architecture": model.pretrained_cfg["architecture"], "num_classes": model.num_classes,
              "num_features": model.num_features, "global_pool": "avg"}
    settings = {key: value for key, value in model.pretrained_cfg.items()
                if isinstance(value, (str, int, float, tuple, list)) and key != "architecture"}
    settings["input_size"] = [next(model.parameters()).shape[1], *settings["input_size"][1:]]
    (folder / "config.json").write_text(json.dumps(config | {"pretrained_cfg": settings}, indent=2))


def record():
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (model, shape) in cases().items():
            case, beta = Path(folder) / name, 2 if "resnet" in name else 0
            write_folder(model, case, "1GB")
            weights = set_weights(case / "model.safetensors", beta)
            model = opened(model, case).double()  # torch's float32 is up to 8e-6 off
            config = json.loads((case / "config.json").read_text())
            out[name] = {"config": config, "shape": shape, "beta": beta, "weights": weights,
                         "outputs": [[float(f"{y:.8g}") for y in x.reshape(-1).tolist()]
                                     for x in outputs_of(model, shape)]}
    write("vision_folders", out,
          f"transformers {transformers.__version__}, timm {timm.__version__}, torch {torch.__version__}")


def opened(model, folder):
    """A model of a folder, which must have all weights and no others."""
    if isinstance(model, transformers.PreTrainedModel):
        again, found = type(model).from_pretrained(folder, output_loading_info=True, attn_implementation="eager")
        assert not any(found.values()), f"{folder.name}: {found}"
        before, after = model.config.to_dict(), again.config.to_dict()
        differing = {key for key in before if before[key] != after.get(key)} - {"_name_or_path", "transformers_version"}
        assert not differing, f"{folder.name}: {({key: (before[key], after.get(key)) for key in differing})}"
        return again.eval()
    again = timm.create_model(f"local-dir:{folder}", pretrained=False).eval()
    again.load_state_dict(load_file(folder / "model.safetensors"), strict=True)
    return again


def compare(program):
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        made = cases()
        for name, (model, shape) in made.items():
            torch.manual_seed(len(name))
            for parameter, value in model.named_parameters():
                if value.dim() == 1:
                    torch.nn.init.normal_(value, 1.0 if parameter.endswith("weight") else 0.0, 0.1)
            for buffer, value in model.named_buffers():
                if buffer.endswith("running_var"):
                    value.uniform_(0.5, 2)
            write_folder(model, Path(folder) / name, "100KB" if "mobile" in name else "3KB")
            save_file({f"y{i}": y.contiguous() for i, y in enumerate(outputs_of(model, shape))},
                      Path(folder) / name / "expected.safetensors")
        subprocess.run([program, "--run_test=vision_folders/folders_of_others_are_read_and_saved_again"], check=True,
                       env={**os.environ, "MEZZO_VISION_FOLDERS": folder})
        for name, (model, shape) in made.items():
            again = opened(model, Path(folder) / name / "mezzo")
            state = again.state_dict()
            for parameter, value in model.state_dict().items():
                assert torch.equal(value, state[parameter]), f"{name}: {parameter}"
            for one, other in zip(outputs_of(again, shape), outputs_of(model, shape), strict=True):
                assert torch.equal(one, other), name
            shards = len(list((Path(folder) / name).glob("model-*")))
            print(f"{name}: {shards} shards, strict, equal outputs and config")


if len(sys.argv) != 2:
    sys.exit(__doc__)
record() if sys.argv[1] == "--record" else compare(sys.argv[1])
