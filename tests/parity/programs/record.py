"""Records what the programs of this folder compute with Keras. Each has its C++ program beside it.

record.py [NAME...]: records these programs, by default all.
"""

import importlib
import sys
from pathlib import Path

from programs import write

NAMES = sorted(path.stem[len("test_"):] for path in Path(__file__).parent.glob("test_*.cpp"))

for name in sys.argv[1:] or NAMES:
    write(name, importlib.import_module(name).record())
