"""Records the numbers and roundings of narrow formats: float8 and MX elements of ml_dtypes, and the codes of
bitsandbytes."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
from bitsandbytes import functional

FLOATS = {
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "mxfp6_e3m2": ml_dtypes.float6_e3m2fn,
    "mxfp6_e2m3": ml_dtypes.float6_e2m3fn,
    "mxfp4_e2m1": ml_dtypes.float4_e2m1fn,
}


def bits(x):
    return np.asarray(x, np.float32).reshape(-1).view(np.uint32).tolist()


def codes(x, dtype):
    return np.asarray(x).astype(dtype).view(np.uint8).tolist()


def halfway(numbers):
    """Each midpoint of neighbours, the floats beside it, and the numbers themselves, of both signs."""
    numbers = np.unique(numbers[np.isfinite(numbers)].astype(np.float64))
    middle = ((numbers[1:] + numbers[:-1]) / 2).astype(np.float32)
    return np.concatenate(
        [middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(-np.inf)), numbers]
    ).astype(np.float32)


def described(name):
    dtype = FLOATS[name]
    count = 1 << ml_dtypes.finfo(dtype).bits
    numbers = np.arange(count, dtype=np.uint8).view(dtype).astype(np.float32)
    info = ml_dtypes.finfo(dtype)
    inputs = halfway(numbers)
    out = {
        "numbers": bits(numbers),
        "finfo": {
            key: float(getattr(info, key))
            for key in ["bits", "eps", "max", "min", "smallest_normal", "smallest_subnormal"]
        },
    }
    if info.bits == 8:
        largest = np.float32(info.max)
        beyond = np.float32([1.03, 1.0357142, 1.0357143, 1.04, 1.07, 1.0714285, 1.0714286, 1.08, 2, 1e30]) * largest
        special = np.float32([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 3e38])
        inputs = np.concatenate([inputs, beyond, -beyond, special])
        out["inputs"], out["codes"] = bits(inputs), codes(inputs, dtype)
    else:
        out["inputs"] = bits(inputs)
        out["rounded"] = bits(inputs.astype(dtype).astype(np.float32))
    return out


def main():
    cases = {name: described(name) for name in FLOATS}
    cases["bitsandbytes"] = {
        "signed": bits(functional.create_dynamic_map(signed=True).numpy()),
        "unsigned": bits(functional.create_dynamic_map(signed=False).numpy()),
        "nf4": bits(functional.get_4bit_type("nf4", device="cpu").numpy()),
    }
    path = Path(__file__).parent / "recorded" / "number_formats.json"
    lines = [f"{json.dumps(key)}: {json.dumps(case, separators=(',', ':'))}" for key, case in cases.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {path.stat().st_size} bytes, ml_dtypes {ml_dtypes.__version__}")


main()
