#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include <mezzo/core/convert.hpp>

namespace mezzo::detail {

/// Integers beyond it have neighbours that float64 can't tell apart.
constexpr std::int64_t exact_integers = std::int64_t{1} << 53;

/// True if a float has exactly the value of an integer.
template <class Float>
bool equals_integer(Float value, std::int64_t integer) {
  const auto wide = convert<double>(value);
  return wide >= -0x1p63 && wide < 0x1p63 && static_cast<std::int64_t>(wide) == integer;
}

/// A number as To, or nullopt if To can't hold it. bool holds 0 and 1; integers hold whole numbers of their range;
/// floats round, but not finite numbers to infinity and not integers beyond exact_integers.
template <class To, class From>
std::optional<To> held_as(From x) {
  constexpr bool from_integer = std::is_integral_v<From>;
  if constexpr (std::is_same_v<To, bool>) {
    if (convert<double>(x) != 0 && convert<double>(x) != 1) return std::nullopt;
    return convert<double>(x) != 0;
  } else if constexpr (std::is_integral_v<To> && from_integer) {
    const auto wide = convert<std::int64_t>(x);
    if (wide < std::numeric_limits<To>::min() || wide > std::numeric_limits<To>::max()) return std::nullopt;
    return static_cast<To>(wide);
  } else if constexpr (std::is_integral_v<To>) {
    const auto wide = convert<double>(x);
    if (!(wide >= static_cast<double>(std::numeric_limits<To>::min()) && wide < 0x1p63)) return std::nullopt;
    const auto whole = static_cast<std::int64_t>(wide);
    if (static_cast<double>(whole) != wide || whole > std::numeric_limits<To>::max()) return std::nullopt;
    return static_cast<To>(whole);
  } else {
    const To value = convert<To>(x);
    if constexpr (from_integer) {
      const auto wide = convert<std::int64_t>(x);
      const bool large = wide > exact_integers || wide < -exact_integers;
      if (large && !equals_integer(value, wide)) return std::nullopt;
    }
    if (std::isinf(convert<double>(value)) && !std::isinf(convert<double>(x))) return std::nullopt;
    return value;
  }
}

}  // namespace mezzo::detail
