"""The kept lines of mezzo_precision, mezzo_generate and mezzo_qlora, and their tables in docs/fewer_bits.md."""

import json
import statistics
from pathlib import Path

RECORD = "docs/benchmarks/fewer_bits.jsonl"
TASKS = {"mlp": "Fashion-MNIST, MLP", "cnn": "Fashion-MNIST, CNN", "gpt": "King James Version, character GPT",
         "verses": "King James Version, classes of verses by MiniLM"}
BASES = {"LoRA, int4/64 weights": "LoRA, mixed_bfloat16", "int8-mixed": "mixed_bfloat16",
         "mixed_int8, all layers": "mixed_bfloat16"}
Line = dict[str, object]


def lines(root: Path) -> list[Line]:
    path = Path(root) / RECORD
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def runs(root: Path, task: str) -> dict[str, dict[int, Line]]:
    """The lines of a task by configuration and seed, in the order of the file."""
    found: dict[str, dict[int, Line]] = {}
    for line in lines(root):
        if line.get("task") == task:
            found.setdefault(str(line["config"]), {})[int(line["seed"])] = line
    return found


def base_of(task: str, config: str, known: dict[str, dict[int, Line]]) -> str | None:
    """The configuration with which another one is compared."""
    base = BASES.get(config, "float32" if "float32" in known else "mixed_bfloat16")
    return base if base != config and base in known else None


def metric(line: Line) -> float:
    return float(line["accuracy"] if "accuracy" in line else line["loss"])


def differences(known: dict[str, dict[int, Line]], config: str, base: str) -> list[float]:
    """By seed: points of accuracy, or per cent of the base's loss; positive is better."""
    pairs = [(line, known[base][seed]) for seed, line in known[config].items() if seed in known[base]]
    return [metric(a) - metric(b) if "accuracy" in a else 100 * (1 - metric(a) / metric(b)) for a, b in pairs]


def ratio(known: dict[str, dict[int, Line]], config: str, base: str, name: str) -> str:
    """Median over the seeds of the base's time to the configuration's."""
    pairs = [(line, known.get(base, {}).get(seed, {})) for seed, line in known[config].items()]
    ratios = [float(b[name]) / float(a[name]) for a, b in pairs if name in a and name in b]
    return f"{statistics.median(ratios):.2f}" if ratios else ""


def right_columns(by_seed: dict[int, Line], base: dict[int, Line]) -> list[str]:
    """Characters that are right, in per cent, and the mean difference in points to the base with the same seed."""
    values = {seed: float(line["right"]) for seed, line in by_seed.items() if "right" in line}
    gaps = [value - float(base[seed]["right"]) for seed, value in values.items() if "right" in base.get(seed, {})]
    return [f"{statistics.mean(values.values()):.2f}" if values else "", f"{statistics.mean(gaps):+.2f}" if gaps else ""]


def task_rows(root: Path, task: str) -> list[list[str]]:
    known, rows = runs(root, task), []
    first = "float32" if "float32" in known else "mixed_bfloat16"
    for config, by_seed in known.items():
        base = base_of(task, config, known)
        gaps = differences(known, config, base) if base else []
        unit = "" if "accuracy" in next(iter(by_seed.values())) else " %"
        values = [metric(line) for line in by_seed.values()]
        digits = 2 if not unit else 4
        rows.append([config, f"{statistics.mean(values):.{digits}f}", str(len(values)),
                     f"{statistics.mean(gaps):+.2f}{unit}" if gaps else "",
                     f"{min(gaps):+.2f} to {max(gaps):+.2f}" if len(gaps) > 1 else "", base or "",
                     f"{float(next(iter(by_seed.values()))['weights_kib']):,.0f}",
                     ratio(known, config, first, "step_ms"), ratio(known, config, first, "predict_ms")])
        if task == "gpt":
            rows[-1] += right_columns(by_seed, known.get(base or "", {}))
    return rows


def task_table(root: Path, task: str, table) -> str | None:
    if not lines(root):
        return None
    rows = task_rows(root, task)
    kind = "accuracy, %" if task != "gpt" else "loss"
    head = ["policy or weights", kind, "seeds", "difference", "of seeds", "compared with", "weights, KiB",
            "training step, x", "prediction, x"]
    if task == "gpt":
        head += ["characters right, %", "points"]
    return table(head, rows) if rows else "Not recorded yet.\n"


def generation(root: Path, table) -> str | None:
    rows = [[str(line["config"]), f"{line['per_s']}", f"{line.get('ratio', '')}", f"{line['weights_mib']}"]
            for line in lines(root) if line.get("workload") == "generate"]
    return table(["GPT-2, 124 million weights", "tokens per s", "x", "weights, MiB"], rows) if rows else None


def finetuning(root: Path, table) -> str | None:
    rows = [[str(line["base"]), f"{line['weights_mib']}", f"{line['built_mib']}", f"{line['rss_mib']}"]
            for line in lines(root) if line.get("workload") == "qlora"]
    return table(["base of a Llama of 1.1 billion weights", "weights, MiB", "peak of building, MiB",
                  "peak of training, MiB"], rows) if rows else None
