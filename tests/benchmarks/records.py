"""The kept results of compare.py: a file of JSON for each kind of CPU in docs/benchmarks, and their tables in the docs."""

import datetime
import json
import statistics
from pathlib import Path

FOLDER = "docs/benchmarks"
ISAS = [("amx_bf16", "AMX"), ("avx512_bf16", "AVX512_BF16"), ("avx512f", "AVX-512"), ("avx2", "AVX2")]
FLOAT32 = ("float32", "fp32")
Json = dict[str, object]


def cpu(text: str) -> Json:
    """The kind of CPU by the text of /proc/cpuinfo."""
    fields = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    named = {name.strip(): value.strip() for name, value in fields.items()}
    flags = named.get("flags", "").split()
    isa = next((title for flag, title in ISAS if flag in flags), "SSE2")
    vendor = {"GenuineIntel": "intel", "AuthenticAMD": "amd"}.get(named.get("vendor_id", ""), "other")
    kind = f"{vendor}-{named.get('cpu family', '0')}-{named.get('model', '0')}"
    return {"file": f"{kind}-{isa.lower().replace(' ', '-')}.json", "name": named.get("model name", "unknown"),
            "family": named.get("cpu family", "?"), "model": named.get("model", "?"), "isa": isa}


def is_float32(side: str) -> bool:
    return side.split()[1].split("+")[0] in FLOAT32


def summary(lines: list[Json | None], peer: list[Json | None] | None) -> Json:
    """Medians over the rounds. `ratio` has the median, the least and the greatest ratio to the peer."""
    ran = [line for line in lines if line]
    result: Json = {name: round(statistics.median(float(line[name]) for line in ran), 3)
                    for name in ["per_s", "first_s"]}
    result["rss_mib"] = max(round(float(line["rss_mib"])) for line in ran)
    if peer is not None:
        ratios = [float(a["per_s"]) / float(b["per_s"]) for a, b in zip(lines, peer) if a and b]
        result["ratio"] = [round(value, 2) for value in (statistics.median(ratios), min(ratios), max(ratios))]
    return result


def workload_record(runs: dict[str, list[Json | None]], bound: float, rounds: int, seconds: float) -> Json:
    """Each side of mezzo with its peer: for float32 the fastest peer in float32, otherwise the fastest of all."""
    ran = {name: lines for name, lines in runs.items() if any(lines)}
    speed = {name: statistics.median(float(line["per_s"]) for line in lines if line) for name, lines in ran.items()}
    sides = []
    for name in [name for name in ran if name.startswith("mezzo ")]:
        peers = [peer for peer in ran if not peer.startswith("mezzo ") and (is_float32(peer) or not is_float32(name))]
        best = max(peers, key=speed.__getitem__, default=None)
        side = {"policy": name.split()[1], **summary(ran[name], ran[best] if best else None)}
        if best:
            side["peer"] = {"name": best, **summary(ran[best], None)}
        sides.append(side)
    return {"date": datetime.date.today().isoformat(), "rounds": rounds, "seconds": seconds,
            "roofline": round(bound, 1), "sides": sides}


def keep(root: Path, workload: str, record: Json, threads: int, cpuinfo: str) -> Path:
    """Replaces the workload's record in the file of this CPU."""
    kind = cpu(cpuinfo)
    path = root / FOLDER / str(kind.pop("file"))
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"workloads": {}}
    known = {**kind, "threads": threads, "workloads": {**known["workloads"], workload: record}}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return path


def row(workload: str, record: Json, side: Json) -> list[str]:
    peer = side.get("peer")
    least = side["ratio"][1:] if peer else []
    return [workload, side["policy"], f"{side['per_s']:,.1f}",
            f"{peer['name']}: {peer['per_s']:,.1f}" if peer else "",
            f"{side['ratio'][0]:.2f} ({least[0]:.2f}-{least[1]:.2f})" if peer else "",
            f"{100 * side['per_s'] / record['roofline']:.0f} %" if record["roofline"] else "",
            f"{side['first_s']:.2f}" + (f" / {peer['first_s']:.2f}" if peer else ""),
            f"{side['rss_mib']}" + (f" / {peer['rss_mib']}" if peer else ""), record["date"]]


def sections(root: Path, heading: str, make) -> str | None:
    """`heading` with the CPU in place of `{}`, and `make(workloads)`, for each kind of CPU; None without records."""
    parts = []
    for path in sorted((root / FOLDER).glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))
        name = (f"{known['name']}, family {known['family']}, model {known['model']}: {known['isa']}, "
                f"{known['threads']} threads")
        parts.append(heading.format(name) + "\n\n" + make(known["workloads"]))
    return "\n".join(parts) if parts else None


def tables(root: Path, table) -> str | None:
    """All records of each kind of CPU; `table(head, rows)` makes a table."""
    head = ["workload", "policy", "per s", "best peer, per s", "x peer", "share of the roofline", "first step, s",
            "peak MiB", "date"]
    return sections(root, "### {}", lambda workloads: table(
        head, [row(workload, record, side) for workload, record in workloads.items() for side in record["sides"]]))


def overview(root: Path, table) -> str | None:
    """Speed and ratio to the peer of each workload, a column for each policy, for each kind of CPU."""
    def make(workloads):
        policies = list(dict.fromkeys(side["policy"] for record in workloads.values() for side in record["sides"]))
        rows = []
        for workload, record in workloads.items():
            cells = {side["policy"]: row(workload, record, side) for side in record["sides"]}
            shown = [(cells[policy][2], cells[policy][4]) if policy in cells else ("", "") for policy in policies]
            rows.append([workload, *(cell for pair in shown for cell in pair)])
        return table(["workload", *(name for policy in policies for name in (f"{policy}, per s", "x peer"))], rows)

    return sections(root, "**{}**", make)
