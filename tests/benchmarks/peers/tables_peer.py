"""Seconds of pandas' read_csv with its C engine, the peer of `mezzo_tables time`.

tables_peer.py write FILE [MEGABYTES]   writes a table of 20 columns of random floats and integers
tables_peer.py time FILE [RUNS]         the best of RUNS, as a line of JSON
"""

import json
import os
import sys
import time

import numpy as np
import pandas as pd


def write(path, megabytes):
    random = np.random.default_rng(1)
    rows = 20000
    with open(path, "w") as file:
        file.write(",".join(f"c{i}" for i in range(20)) + "\n")
        while file.tell() < megabytes * 1_000_000:
            floats = random.normal(size=(rows, 16)) * 10.0 ** random.integers(-3, 4, size=16)
            whole = random.integers(-1_000_000, 1_000_000, size=(rows, 4))
            table = pd.DataFrame(np.hstack([floats, whole]))
            table.iloc[:, 16:] = whole
            file.write(table.astype({i: "int64" for i in range(16, 20)}).to_csv(header=False, index=False))


def measure(path, runs):
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        table = pd.read_csv(path, engine="c")
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"reader": f"pandas {pd.__version__}", "seconds": best,
                      "mb_per_second": os.path.getsize(path) / best / 1e6, "rows": len(table)}))


if sys.argv[1] == "write":
    write(sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 1000)
else:
    measure(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
