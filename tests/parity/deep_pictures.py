"""Records TensorFlow's decoding of the PNG files in recorded/image.json as uint8 and uint16."""

import base64
import json
from pathlib import Path

import tensorflow as tf

RECORDED = Path(__file__).parent / "recorded"
NAMES = ["png rgb", "png gray", "png 16 bit gray", "png 16 bit rgb", "png 16 bit gray alpha", "png 16 bit rgba"]


def main():
    files = json.loads((RECORDED / "image.json").read_text())["decode"]
    cases = {}
    for name in NAMES:
        data = base64.b16decode(files[name]["file"])
        cases[name] = {kind.name: tf.io.decode_png(data, channels=3, dtype=kind).numpy().reshape(-1).tolist()
                       for kind in (tf.uint8, tf.uint16)}
    path = RECORDED / "deep_pictures.json"
    lines = [f"{json.dumps(name)}: {json.dumps(case, separators=(',', ':'))}" for name, case in cases.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(cases)} files, {path.stat().st_size} bytes")


main()
