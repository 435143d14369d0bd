"""Runs ONNX's own backend tests through load_onnx, and counts the results by suite and operator.

    python tests/parity/onnx_backend.py build/tests/test_onnx [--write docs/onnx_import.md] [--show REGEX]

Needs the Python package onnx, whose wheel holds the tests. Each case is a model with inputs and outputs. A case passes if
the outputs equal those of the file by the suite's tolerances, traced as predict() does, or eagerly if shapes depend on
the numbers of inputs. An error of mezzo is a clear one; other exceptions and other numbers are wrong.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import tempfile

import onnx

DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
SUITES = ["node", "simple", "pytorch-converted", "pytorch-operator"]
# Draw random numbers, so that outputs differ.
RANDOM = re.compile(r"test_(bernoulli|training_dropout)(?!.*(zero_ratio|_expanded_zero))")
CONTROL = {"If", "Loop", "Scan"}
QUANTIZED = re.compile(r"[Qq]uantize|QLinear|MatMulInteger|ConvInteger")


def kind_of(model):
    """Reason why a case isn't in the counts of supported kinds; "": none."""
    nodes = list(model.graph.node)
    if any(node.domain not in ("", "ai.onnx") for node in nodes):
        return "other domain"
    if any(node.op_type in CONTROL for node in nodes):
        return "control flow"
    values = list(model.graph.input) + list(model.graph.output)
    if any(value.type.HasField("sequence_type") or value.type.HasField("optional_type") for value in values) or \
            any("Sequence" in node.op_type and node.op_type != "ReverseSequence" for node in nodes):
        return "sequences"
    if any(value.type.tensor_type.elem_type == onnx.TensorProto.STRING for value in values) or \
            any("String" in node.op_type for node in nodes):
        return "strings"
    if any(QUANTIZED.search(node.op_type) for node in nodes):
        return "quantization"
    return ""


def run(program, folders):
    results = {}
    while folders:
        with tempfile.TemporaryDirectory() as folder:
            cases = pathlib.Path(folder) / "cases"
            cases.write_text("".join(f"{path}\n" for path in folders))
            done = subprocess.run([program, "--run_test=backend_cases", "--catch_system_errors=no"],
                                  env={**os.environ, "MEZZO_ONNX_CASES": str(cases)}, capture_output=True, text=True)
            lines = pathlib.Path(str(cases) + ".results").read_text().split("\n")
        for line in lines:
            if "\t" in line:
                path, text = line.split("\t", 1)
                results[path] = text or f"crash (exit code {done.returncode})"
        folders = folders[len([line for line in lines if "\t" in line]):] if done.returncode else []
    return results


def state_of(text, name):
    if text.startswith(("traced", "eager")):
        return "passed"
    if text.startswith("wrong") and RANDOM.search(name):
        return "random"
    return text.split(" ")[0]


def table(rows, columns):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def write_tables(page, **tables):
    """Replaces the lines between the marks of each name in a page of the docs."""
    path = pathlib.Path(page)
    text = path.read_text()
    for mark, lines in tables.items():
        begin, end = f"<!-- begin: {mark} -->\n", f"<!-- end: {mark} -->"
        head, rest = text.split(begin)
        text = head + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--write")
    parser.add_argument("--show", help="prints results of cases whose result matches")
    parser.add_argument("--only", default="", help="runs cases whose name matches")
    options = parser.parse_args()
    cases = {}
    for suite in SUITES:
        for path in sorted((DATA / suite).iterdir()):
            if (path / "model.onnx").exists() and re.search(options.only, path.name):
                cases[str(path)] = (suite, path.name, onnx.load(path / "model.onnx", load_external_data=False))
    results = run(options.program, list(cases))
    suites = collections.defaultdict(collections.Counter)
    operators = collections.defaultdict(collections.Counter)
    for path, (suite, name, model) in cases.items():
        text, kind = results[path], kind_of(model)
        state = state_of(text, name)
        if options.show and re.search(options.show, f"{state} {name} {text}"):
            print(f"{suite}/{name}: {text[:300]}")
        suites[suite, kind or "supported kinds"][state] += 1
        suites[suite, kind or "supported kinds"]["eager"] += text.startswith("eager")
        if suite == "node" and not kind:
            operator = model.graph.node[0].op_type if len(model.graph.node) == 1 else "functions of several nodes"
            operators[operator][state] += 1
    states = ["passed", "error", "wrong", "random", "crash"]
    lines = table([(suite, kind, sum(count[s] for s in states), *(count[s] for s in states), count["eager"])
                   for (suite, kind), count in sorted(suites.items())],
                  ["suite", "kind", "cases", *states, "passed only eagerly"])
    rows = [(operator, *(count[s] for s in states)) for operator, count in sorted(operators.items())]
    print("\n".join(lines))
    if options.write:
        write_tables(options.write, suites=lines, operators=table(rows, ["operator", *states]))
    else:
        for row in rows:
            if sum(row[2:]):
                print(row)


if __name__ == "__main__":
    main()
