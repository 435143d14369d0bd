"""Numbers by a formula, which tests/models/formula.hpp has in C++."""

import numpy as np


def numbers(stream, count):
    """Numbers in [-1, 1) with 24 bits, exact in float32: MurmurHash3's finalizer of stream and index."""
    h = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(stream * 0x85EBCA77 % 2**32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    h ^= h >> np.uint32(16)
    return (h >> np.uint32(8)).astype(np.float64) / 2**23 - 1
