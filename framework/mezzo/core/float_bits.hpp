#pragma once
#include <cstdint>
#include <cstring>

namespace mezzo::detail {

/// The bits of a float: sign, exponent, mantissa.
inline std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// The same of a double.
inline std::uint64_t bits_of(double x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

}  // namespace mezzo::detail
