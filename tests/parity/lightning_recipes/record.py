"""Runs the recipes of docs/coming-from-lightning.md and records their numbers. Each has its C++ program beside it."""

import importlib
import json
import logging
import os
from pathlib import Path

os.environ.update(CUDA_VISIBLE_DEVICES="", PL_TRAINER_ACCELERATOR="cpu", PL_TRAINER_LOGGER="False",
                  PL_TRAINER_ENABLE_PROGRESS_BAR="False", PL_TRAINER_ENABLE_MODEL_SUMMARY="False")

FOLDER = Path(__file__).parent
# Recipes write into the current folder, which is a temporary one.
from recipes import in_folder  # noqa: E402

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

names = sorted(path.stem[len("test_"):] for path in FOLDER.glob("test_*.cpp"))
values = {}
for name in names:
    with in_folder():
        values[name] = importlib.import_module(name).record()
lines = [f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}" for name, value in values.items()]
(FOLDER.parent / "recorded" / "lightning_recipes.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"lightning_recipes.json: {len(values)} recipes")
