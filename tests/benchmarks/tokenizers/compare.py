"""Speed of encoding on one thread, mezzo's and Hugging Face's `tokenizers`: compare.py PROGRAM [KIND...].

PROGRAM is mezzo_tokenizers. The tokenizers are those of tests/parity/recorded/tokenizers, the texts its lines and the
sources of the library. The two take turns, and the median of the rounds counts. Needs the package `tokenizers`.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.update(TOKENIZERS_PARALLELISM="false", RAYON_NUM_THREADS="1")
from tokenizers import Tokenizer  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
RECORDED = ROOT / "tests/parity/recorded/tokenizers"
SECONDS = 1.0
ROUNDS = 3


def texts():
    rows = json.loads((RECORDED / "lines.json").read_text())
    lines = [row["text"].replace("\n", " ").replace("\r", " ") for row in rows if "text" in row][:705]
    for path in sorted((ROOT / "framework").rglob("*.cpp"))[::10]:
        lines += path.read_text().splitlines()
    return [line for line in lines if line]


def hugging_face(tokenizer, lines):
    size = sum(len(line.encode()) for line in lines)
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < SECONDS:
        for line in lines:
            tokenizer.encode(line)
        count += 1
    return size * count / (time.perf_counter() - begin) / 1e6


def main():
    program, kinds = sys.argv[1], sys.argv[2:] or sorted(p.stem for p in RECORDED.glob("*.json") if p.stem != "lines")
    lines = texts()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "lines.txt").write_text("\n".join(lines) + "\n")
        print("| tokenizer | mezzo, MB/s | Hugging Face, MB/s | ratio |\n|---|---|---|---|")
        for kind in kinds:
            description = json.dumps(json.loads((RECORDED / f"{kind}.json").read_text())["tokenizer"])
            (Path(folder) / "tokenizer.json").write_text(description)
            tokenizer = Tokenizer.from_str(description)
            pairs = []
            for _ in range(ROUNDS):
                command = [program, f"{folder}/tokenizer.json", f"{folder}/lines.txt", "--seconds", str(SECONDS)]
                own = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["MB_per_s"]
                pairs.append((own, hugging_face(tokenizer, lines)))
            own, theirs = (statistics.median(one) for one in zip(*pairs))
            print(f"| {kind} | {own:.1f} | {theirs:.1f} | {own / theirs:.2f} |", flush=True)


main()
