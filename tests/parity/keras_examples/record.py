"""Records the shapes of the weights and the first losses of keras.io's examples. Each has its C++ program beside it.

record.py [NAME...]: records these examples anew and keeps the others.
"""

import importlib
import json
import sys
from pathlib import Path

from examples import write

NAMES = sorted(path.stem[len("test_"):] for path in Path(__file__).parent.glob("test_*.cpp"))
RECORDED = Path(__file__).parent.parent / "recorded" / "keras_examples.json"

wanted = sys.argv[1:] or NAMES
values = json.loads(RECORDED.read_text()) if sys.argv[1:] else {}
values.update({name: importlib.import_module(name).record() for name in wanted})
write("keras_examples", {name: values[name] for name in NAMES if name in values})
