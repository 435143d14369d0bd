"""Cling, out of the PyPI wheel `root`, as C++17: run_cell(text)."""

import warnings

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


def run_cell(text):
    """Whether Cling takes the cell and it throws nothing; otherwise the reason is on stderr."""
    if not hasattr(run_cell, "declared"):
        run_cell.declared = ROOT.gInterpreter.Declare(RUN_CELL)
    return ROOT.mezzo_run_cell(text) == 0
