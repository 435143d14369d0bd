#pragma once
#include <cstdint>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// 8-bit float with 4 exponent bits and 3 mantissa bits, without infinities (Micikevicius et al., 2022, "FP8 Formats
/// for Deep Learning"). Largest number 448, smallest 2^-9. For storage only; arithmetic is done in float.
struct MEZZO_API float8_e4m3fn {  // NOLINT(readability-identifier-naming): named as a number type
  std::uint8_t bits = 0;          ///< sign, exponent, mantissa; 0x7f and 0xff are NaN

  float8_e4m3fn() = default;

  /// Rounds to nearest, ties to even. Magnitudes above 464 and infinities become NaN.
  explicit float8_e4m3fn(float x);

  /// Converts without rounding.
  explicit operator float() const;
};

/// 8-bit float with 5 exponent bits and 2 mantissa bits, as IEEE's binary16 with a shorter mantissa. Largest number
/// 57344, smallest 2^-16. For storage only; arithmetic is done in float.
struct MEZZO_API float8_e5m2 {  // NOLINT(readability-identifier-naming): named as a number type
  std::uint8_t bits = 0;        ///< sign, exponent, mantissa; 0x7c and 0xfc are infinite

  float8_e5m2() = default;

  /// Rounds to nearest, ties to even. Magnitudes from 61440 on become infinite.
  explicit float8_e5m2(float x);

  /// Converts without rounding.
  explicit operator float() const;
};

}  // namespace mezzo
