"""The programs that compare.py runs: mezzo, the peers, the roofline. Each prints one line of JSON."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

PEERS = Path(__file__).parent / "peers"
POLICIES = ["float32", "mixed_bfloat16"]
TORCH_CONFIGS = ["fp32", "fp32+compile", "bf16", "bf16+compile", "bf16+ipex"]
KERAS_CONFIGS = ["float32", "float32 --jit", "mixed_bfloat16", "mixed_bfloat16 --jit"]
JEMALLOC = "/usr/lib/*/libjemalloc.so.2"
MALLOC_CONF = ("oversize_threshold:1,background_thread:false,metadata_thp:always,"
               "dirty_decay_ms:-1,muzzy_decay_ms:-1")

Line = dict[str, str | float]
NUMBERS = ["per_s", "best", "ms", "first_s", "rss_mib", "loss"]


def tuned_allocator() -> dict[str, str]:
    """Environment with Debian's libjemalloc2, with which the peers are fastest; empty if it is not installed."""
    libraries = glob(JEMALLOC)
    return {"LD_PRELOAD": libraries[0], "MALLOC_CONF": MALLOC_CONF} if libraries else {}


@dataclass(frozen=True)
class Side:
    """One program in one configuration. The workload follows the program on the command line, before `config`."""

    name: str
    program: tuple[str, ...]
    config: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict, hash=False)

    def run(self, workload: str, seconds: float, threads: int) -> Line | None:
        """The printed line, or None if the program fails."""
        environment = {**os.environ, **self.environment, "OMP_NUM_THREADS": str(threads)}
        command = [*self.program, workload, *self.config, "--seconds", str(seconds)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None
        try:
            return json.loads(done.stdout.splitlines()[-1])
        except (IndexError, json.JSONDecodeError):
            return None


def mezzo_sides(program: str, policies: list[str]) -> list[Side]:
    return [Side(f"mezzo {policy}", (program,), (policy,)) for policy in policies]


def peer_sides(torch_python: str | None, keras_python: str | None) -> list[Side]:
    """All configurations of the peers, with the allocator that is best for them."""
    sides = []
    for name, python, configs in [("torch", torch_python, TORCH_CONFIGS), ("keras", keras_python, KERAS_CONFIGS)]:
        if python:
            program = (python, str(PEERS / f"{name}_peer.py"))
            sides += [Side(f"{name} {c}", program, tuple(c.split()), tuned_allocator()) for c in configs]
    return sides


def problems(line: Line | None, workload: str, config: str) -> list[str]:
    """The faults of a line of mezzo."""
    if line is None:
        return ["no line of JSON"]
    found = [f"{name} is {line.get(name)!r}" for name, value in [("workload", workload), ("config", config)]
             if line.get(name) != value]
    if not str(line.get("framework", "")).startswith("mezzo "):
        found.append(f"framework is {line.get('framework')!r}")
    for name in [*NUMBERS, "first_touch_s"]:
        value = line.get(name)
        if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            found.append(f"{name} is {value!r}")
    return found


def build_roofline(folder: str) -> str | None:
    """The path of the program, or None if it can't be built."""
    program = f"{folder}/roofline"
    build = ["g++", "-std=c++17", "-O3", "-march=native", str(PEERS / "roofline.cpp"), "-o", program, "-ldnnl",
             "-pthread"]
    try:
        subprocess.run(build, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return program


def run_roofline(program: str, workload: str, threads: int) -> float:
    """The roofline of a workload in items per second: the better of its dtypes."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([program, workload], env=environment, capture_output=True, text=True, check=True)
    return max(float(json.loads(line)["per_s"]) for line in done.stdout.splitlines())
