#pragma once
#include <cstdint>

namespace mezzo {

/// IEEE binary16: 5 exponent bits, 11 bits of precision, largest finite value 65504. A storage format: arithmetic is
/// done in float.
struct float16 {  // NOLINT(readability-identifier-naming): named as a number type
  std::uint16_t bits = 0;

  float16() = default;

  /// Rounds to nearest, ties to even; from 65520 on the result is infinite. Subnormals are kept.
  explicit float16(float x);

  /// Exact.
  explicit operator float() const;
};

}  // namespace mezzo
