#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace mezzo::detail {

/// Integer that orders numbers as their values do, with -0 equal to 0. For float32 and float64 without NaN. Unlike the
/// CPU's comparisons it does not treat denormals as 0 while flush_denormals() is on: add 0 first.
template <class T>
auto float_order(T x) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  std::conditional_t<std::is_same_v<T, float>, std::int32_t, std::int64_t> bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits < 0 ? std::numeric_limits<decltype(bits)>::min() - bits : bits;
}

}  // namespace mezzo::detail
