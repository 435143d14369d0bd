#pragma once
#include <cstdint>
#include <cstring>

#include <mezzo/core/bfloat16.hpp>

namespace mezzo {

/// A float32 split into two halves: the nearest bfloat16 and the remainder. Lossless except for the payloads of NaNs.
/// In bits, x = (high << 16) + low.
///
/// Ties round to the larger magnitude. Rounding them to even would map 2^16 + 1 numbers to each even bfloat16, one more
/// than `low` has values. NaNs become quiet NaNs with remainder 0.
struct SplitFloat {
  bfloat16 high;         ///< the nearest bfloat16
  std::int16_t low = 0;  ///< the remainder, in units of the last bit of the float32

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
