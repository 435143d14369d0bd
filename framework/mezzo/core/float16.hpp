#pragma once
#include <cstdint>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// IEEE binary16: 5 exponent bits, 11 bits of precision, largest finite value 65504. For storage only; arithmetic is
/// done in float.
struct MEZZO_API float16 {  // NOLINT(readability-identifier-naming): named as a number type
  std::uint16_t bits = 0;   ///< sign, exponent, mantissa

  float16() = default;

  /// Rounds to nearest, ties to even. Magnitudes from 65520 on become infinite. Subnormals are kept.
  explicit float16(float x);

  /// Converts without rounding.
  explicit operator float() const;
};

}  // namespace mezzo
