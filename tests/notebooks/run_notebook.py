"""Runs a notebook's code cells in one session of Cling: run_notebook.py PREFIX NOTEBOOK OUTPUT

PREFIX is where mezzo is installed; it stands in for /usr/local in the notebook's `#pragma cling` lines. OUTPUT is
written: the notebook with what the cells gave. The exit code is 1 if a cell doesn't compile or throws, if a display
is not what the cell's metadata promises,

    "mezzo": {"shows": [{"image/png": {"width": 60, "height": 28}, "text/plain": "2 images"}]}

or if NOTEBOOK itself, as it is stored, has other displays than those.
"""

import ctypes
import json
import os
import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "cling")]
from pictures import Broken, check_display, require  # noqa: E402

DISPLAY = re.compile("\x02(.*?)\x03", re.DOTALL)  # as include/xcpp/xdisplay.hpp marks it


@contextmanager
def captured():
    """What is written to file descriptors 1 and 2 meanwhile: {1: text, 2: text}."""
    texts, files = {}, {fd: tempfile.TemporaryFile() for fd in (1, 2)}
    sys.stdout.flush()
    sys.stderr.flush()
    saved = {fd: os.dup(fd) for fd in files}
    try:
        for fd, file in files.items():
            os.dup2(file.fileno(), fd)
        yield texts
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).fflush(None)
        for fd, file in files.items():
            os.dup2(saved[fd], fd)
            os.close(saved[fd])
            file.seek(0)
            texts[fd] = file.read().decode()
            file.close()


def lines(text):
    return text.splitlines(keepends=True)


def outputs_of(texts):
    """Jupyter's outputs, from what a cell wrote to stderr and stdout."""
    outputs = []
    parts = [("stderr", texts[2])] + [("stdout", part) for part in DISPLAY.split(texts[1])]
    for number, (name, text) in enumerate(parts):
        if number > 0 and number % 2 == 0:  # between marks
            data = json.loads(text)
            # Jupyter stores text as lines, but base64 as one string.
            stored = {kind: value if kind == "image/png" else lines(value) for kind, value in data.items()}
            outputs.append({"output_type": "display_data", "data": stored, "metadata": {}})
        elif text:
            outputs.append({"output_type": "stream", "name": name, "text": lines(text)})
    return outputs


def displays(cell):
    """The MIME bundles among a cell's outputs."""
    return [{kind: "".join(value) for kind, value in output["data"].items()}
            for output in cell["outputs"] if output["output_type"] == "display_data"]


def check_displays(cell):
    shown, promised = displays(cell), cell["metadata"].get("mezzo", {}).get("shows", [])
    require(len(shown) == len(promised), f"must have {len(promised)} displays; got {len(shown)}")
    for data, promise in zip(shown, promised):
        check_display(data, promise)


def in_prefix(source, prefix):
    return re.sub(r'(?m)^(#pragma cling .*")/usr/local', lambda match: match[1] + prefix, source)


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run_notebook(notebook, prefix, run_cell):
    """Gives the cells new outputs. Raises Broken, which names the cell."""
    require(notebook["metadata"]["kernelspec"]["name"] == "xcpp17", "the kernel must be xcpp17")
    require(code_cells(notebook), "there are no code cells")
    for number, cell in enumerate(code_cells(notebook), 1):
        source = "".join(cell["source"])
        with captured() as texts:
            done = run_cell(in_prefix(source, prefix))
        require(done, f"code cell {number} failed:\n{source}\n{texts[1]}{texts[2]}")
        cell.update(outputs=outputs_of(texts), execution_count=number)
        try:
            check_displays(cell)
        except Broken as error:
            raise Broken(f"code cell {number}: {error}\n{source}\n{texts[2]}") from error


def check_stored(notebook):
    """Raises Broken if the outputs that a notebook is stored with are not what it promises."""
    for number, cell in enumerate(code_cells(notebook), 1):
        try:
            check_displays(cell)
        except Broken as error:
            raise Broken(f"code cell {number}, as stored: {error}; store OUTPUT in its place") from error


def main():
    prefix, path, output = (Path(argument).resolve() for argument in sys.argv[1:4])
    os.chdir(path.parent)  # as Jupyter does
    from interpreter import run_cell
    text = path.read_text()
    notebook = json.loads(text)
    try:
        require(run_cell(f'#pragma cling add_include_path("{here / "include"}")'), "no include path")
        run_notebook(notebook, str(prefix), run_cell)
        output.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        check_stored(json.loads(text))
    except Broken as error:
        print(f"{path.name}: {error}")
        return 1
    print(f"{path.name}: {len(code_cells(notebook))} cells ran, {sum(len(displays(c)) for c in code_cells(notebook))} "
          f"displays are as promised; written to {output.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
