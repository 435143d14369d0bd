#pragma once
#include <cstdint>
#include <cstring>

#include <mezzo/core/bfloat16.hpp>

namespace mezzo {

/// A float32 in two halves: the nearest bfloat16 and, exactly, what is missing. As bits, x = (high << 16) + low.
///
/// A number halfway between two bfloat16s has the one of larger magnitude: by rounding ties to even, an even one would
/// stand for 2^16 + 1 numbers, one more than `low` can tell apart. Any NaN becomes a quiet one without remainder.
struct SplitFloat {
  bfloat16 high;
  std::int16_t low = 0;

  SplitFloat() = default;
  explicit SplitFloat(float x) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    if (x != x) {
      high = bfloat16(x);
      return;
    }
    high.bits = static_cast<std::uint16_t>((bits + 0x8000U) >> 16);
    low = static_cast<std::int16_t>(bits & 0xffffU);
  }

  explicit operator float() const {
    const std::uint32_t bits = (static_cast<std::uint32_t>(high.bits) << 16) + static_cast<std::uint32_t>(low);
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
};

}  // namespace mezzo
