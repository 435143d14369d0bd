#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/float16.hpp>
#include <mezzo/core/float8.hpp>
#include <mezzo/core/float_order.hpp>

namespace mezzo {
namespace detail {

template <class T>
constexpr bool is_narrow = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16> ||
                           std::is_same_v<T, float8_e4m3fn> || std::is_same_v<T, float8_e5m2>;

/// Converts x to a float that rounds to the same float of 16 or 8 bits as x. Uses round to odd: an inexact result has
/// its last bit set (Boldo and Melquiond, IEEE Transactions on Computers 57-4, 2008).
template <class Wide>
float round_to_odd(Wide x) {
  const auto nearest = static_cast<float>(x);
  const auto back = static_cast<Wide>(nearest);
  if (back == x || x != x || back - back != 0) return nearest;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &nearest, sizeof bits);
  if ((back > x) == (x > 0)) --bits;
  bits |= 1U;
  float odd = 0;
  std::memcpy(&odd, &bits, sizeof odd);
  return odd;
}

/// Converts x to a float without a double rounding in the following conversion to a float of 16 or 8 bits.
template <class From>
float to_float_before_narrow(From x) {
  if constexpr (std::is_same_v<From, double>) return round_to_odd(x);
  if constexpr (std::is_same_v<From, std::int32_t>) return round_to_odd(static_cast<double>(x));
  if constexpr (std::is_same_v<From, std::int64_t>) return round_to_odd(static_cast<long double>(x));
  return static_cast<float>(x);
}

/// Converts a float to an integer: truncates, saturates; NaN becomes 0.
template <class To, class From>
To truncate(From x) {
  using Limits = std::numeric_limits<To>;
  constexpr auto low = static_cast<From>(Limits::min());
  constexpr To half = Limits::max() / 2 + 1;  // a power of two: exact in every float
  constexpr auto end = 2 * static_cast<From>(half);
  if (x != x) return 0;
  if (x <= low) return Limits::min();
  return x >= end ? Limits::max() : static_cast<To>(x);
}

}  // namespace detail

/// Converts one element to another dtype. Floats round once, to nearest even. Floats to integers truncate and saturate;
/// NaN becomes 0. Integers to narrower integers keep their low bits. The result as bool is x != 0.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (detail::is_narrow<From>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool> && std::is_floating_point_v<From>) {
    return detail::float_order(x) != 0;
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (detail::is_narrow<To>) {
    return To(detail::to_float_before_narrow(x));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return detail::truncate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace mezzo
