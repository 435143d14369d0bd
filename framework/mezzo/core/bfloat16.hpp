#pragma once
#include <cstdint>
#include <cstring>

namespace mezzo {

/// bfloat16, the upper half of a float32: 8 exponent bits, 8 bits of precision. For storage only; arithmetic is done in
/// float.
struct bfloat16 {          // NOLINT(readability-identifier-naming): named as a number type
  std::uint16_t bits = 0;  ///< sign, exponent, mantissa

  bfloat16() = default;

  /// Rounds to nearest, ties to even. NaN stays a (quiet) NaN.
  explicit bfloat16(float x) {
    std::uint32_t u = 0;
    std::memcpy(&u, &x, sizeof u);
    if ((u & 0x7fffffffU) > 0x7f800000U) {
      bits = static_cast<std::uint16_t>((u >> 16) | 0x40U);
    } else {
      bits = static_cast<std::uint16_t>((u + 0x7fffU + ((u >> 16) & 1U)) >> 16);
    }
  }

  /// Converts without rounding.
  explicit operator float() const {
    const std::uint32_t u = static_cast<std::uint32_t>(bits) << 16;
    float x = 0;
    std::memcpy(&x, &u, sizeof x);
    return x;
  }
};

}  // namespace mezzo
