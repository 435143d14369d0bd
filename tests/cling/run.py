"""Runs a file of notebook cells in Cling, as C++17: run.py PREFIX FILE

PREFIX is where mezzo is installed. A line that starts with `// %%` begins a cell; in the file `@PREFIX@`
stands for PREFIX. A cell that Cling rejects, or that throws, ends the run with exit code 1.
"""

import re
import sys
from pathlib import Path

from interpreter import run_cell


def main():
    prefix, path = sys.argv[1], Path(sys.argv[2])
    cells = re.split(r"^// %%.*\n", path.read_text().replace("@PREFIX@", prefix), flags=re.MULTILINE)[1:]
    for number, cell in enumerate(cells, 1):
        if not run_cell(cell):
            print(f"{path.name}: cell {number} failed:\n{cell}")
            return 1
    print(f"{path.name}: {len(cells)} cells ran")
    return 0 if cells else 1


if __name__ == "__main__":
    sys.exit(main())
