"""Runs a notebook in the kernel of tutorials/kernel, with nbclient: run_notebook.py KERNELS NOTEBOOK OUTPUT

KERNELS is a folder with kernels/mezzo/kernel.json, as `mezzo notebook install` writes it. OUTPUT is written: the
notebook with what the cells gave. The exit code is 1 if a cell doesn't compile or throws, if a display is not what the
cell's metadata promises,

    "mezzo": {"shows": [{"image/png": {"width": 60, "height": 28}, "text/plain": "2 images"}]}

or if NOTEBOOK itself, as it is stored, has other displays than those. A cell with the tag "raises-exception" must fail.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from pictures import Broken, check_display, require  # noqa: E402


def lines(text):
    return text.splitlines(keepends=True)


def stored(output):
    """An output as it is stored: text as lines, base64 as one string."""
    if output["output_type"] == "stream":
        return {**output, "text": lines(output["text"])}
    if "data" in output:
        data = {kind: value if kind == "image/png" else lines(value) for kind, value in output["data"].items()}
        return {**output, "data": data}
    return output


def displays(cell):
    """The MIME bundles among a cell's outputs."""
    return [{kind: "".join(value) for kind, value in output["data"].items()}
            for output in cell["outputs"] if "data" in output]


def check_displays(cell):
    shown, promised = displays(cell), cell["metadata"].get("mezzo", {}).get("shows", [])
    require(len(shown) == len(promised), f"must have {len(promised)} displays; got {len(shown)}")
    for data, promise in zip(shown, promised):
        check_display(data, promise)


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def check_cell(number, cell):
    """Raises Broken for an error that is not expected, a missing one, and another display than promised."""
    errors = [output for output in cell["outputs"] if output["output_type"] == "error"]
    printed = "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")
    source = "".join(cell["source"])
    expected = "raises-exception" in cell["metadata"].get("tags", [])
    for error in errors:
        require(expected, f"code cell {number} failed:\n{source}\n{printed}{error['ename']}: {error['evalue']}")
    require(errors or not expected, f"code cell {number} must fail:\n{source}")
    try:
        check_displays(cell)
    except Broken as error:
        raise Broken(f"code cell {number}: {error}\n{source}\n{printed}") from error


def run_notebook(notebook, execute):
    """Gives the cells new outputs by execute(notebook), which sets them. Raises Broken, which names the cell."""
    require(notebook["metadata"]["kernelspec"]["name"] == "mezzo", "the kernel must be mezzo")
    require(code_cells(notebook), "there are no code cells")
    execute(notebook)
    for number, cell in enumerate(code_cells(notebook), 1):
        check_cell(number, cell)


def execute(notebook, folder):
    """Runs all cells in Jupyter's way, up to the first that fails unexpectedly."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    node = nbformat.reads(json.dumps(notebook), as_version=4)
    client = NotebookClient(node, timeout=300, kernel_name="mezzo", record_timing=False, coalesce_streams=True,
                            resources={"metadata": {"path": str(folder)}})
    try:
        client.execute()
    except CellExecutionError:
        pass  # check_cell() finds it
    for cell, ran in zip(notebook["cells"], node.cells):
        if cell["cell_type"] == "code":
            cell.update(outputs=[stored(output) for output in ran.outputs], execution_count=ran.execution_count)


def check_stored(notebook):
    """Raises Broken if the outputs that a notebook is stored with are not what it promises."""
    for number, cell in enumerate(code_cells(notebook), 1):
        try:
            check_displays(cell)
        except Broken as error:
            raise Broken(f"code cell {number}, as stored: {error}; store OUTPUT in its place") from error


def main():
    kernels, path, output = (Path(argument).resolve() for argument in sys.argv[1:4])
    os.environ["JUPYTER_PATH"] = str(kernels)
    text = path.read_text()
    notebook = json.loads(text)
    try:
        run_notebook(notebook, lambda one: execute(one, path.parent))
        output.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        check_stored(json.loads(text))
    except Broken as error:
        output.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        print(f"{path.name}: {error}")
        return 1
    print(f"{path.name}: {len(code_cells(notebook))} cells ran, {sum(len(displays(c)) for c in code_cells(notebook))} "
          f"displays are as promised; written to {output.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
