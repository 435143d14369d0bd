#!/usr/bin/env python3
"""Prints the paths of the public headers. public_headers.py ROOT"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "structure"))
from check_tree import Tree  # noqa: E402

if __name__ == "__main__":
    print("\n".join(sorted(Tree(sys.argv[1]).public)))
