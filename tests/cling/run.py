"""Runs a file of notebook cells in Cling, as C++17: run.py PREFIX FILE

PREFIX is where mezzo is installed. A line that starts with `// %%` begins a cell; in the file `@PREFIX@`
stands for PREFIX. A cell that Cling rejects, or that throws, ends the run with exit code 1.
"""

import re
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore", message=r"\s*This distribution")
import ROOT  # noqa: E402

RUN_CELL = """
int mezzo_run_cell(const char* cell) {
  TInterpreter::EErrorCode error = TInterpreter::kNoError;
  try {
    gInterpreter->ProcessLine(cell, &error);
  } catch (const std::exception& e) {
    std::cerr << e.what() << std::endl;
    return 1;
  }
  return error;
}
"""


def main():
    prefix, path = sys.argv[1], Path(sys.argv[2])
    cells = re.split(r"^// %%.*\n", path.read_text().replace("@PREFIX@", prefix), flags=re.MULTILINE)[1:]
    ROOT.gInterpreter.Declare(RUN_CELL)
    for number, cell in enumerate(cells, 1):
        if ROOT.mezzo_run_cell(cell) != 0:
            print(f"{path.name}: cell {number} failed:\n{cell}")
            return 1
    print(f"{path.name}: {len(cells)} cells ran")
    return 0 if cells else 1


if __name__ == "__main__":
    sys.exit(main())
