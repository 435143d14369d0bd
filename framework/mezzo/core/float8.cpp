#include <mezzo/core/float8.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mezzo {
namespace {

/// Bits of a format. Codes are those of magnitudes: without the sign.
struct Float8 {
  int mantissa;           // bits
  int least;              // exponent of the smallest normal number and of subnormals
  std::uint8_t greatest;  // code of the largest number
  std::uint8_t overflow;  // code of larger magnitudes and infinity
  std::uint8_t nan;
};

constexpr Float8 e4m3fn{3, -6, 0x7e, 0x7f, 0x7f};
constexpr Float8 e5m2{2, -14, 0x7b, 0x7c, 0x7e};

std::uint8_t encode(float x, const Float8& format) {
  const int sign = std::signbit(x) ? 0x80 : 0;
  if (std::isnan(x)) return static_cast<std::uint8_t>(sign | format.nan);
  if (std::isinf(x)) return static_cast<std::uint8_t>(sign | format.overflow);
  const int exponent = x == 0 ? format.least : std::max(std::ilogb(x), format.least);
  // The units of the last bit, with the hidden bit of normal numbers, which adds 1 to the exponent's field.
  const double units = std::nearbyint(std::ldexp(std::abs(static_cast<double>(x)), format.mantissa - exponent));
  const double code = units + std::ldexp(exponent - format.least, format.mantissa);
  return static_cast<std::uint8_t>(sign | (code > format.greatest ? format.overflow : static_cast<int>(code)));
}

float decode(std::uint8_t bits, const Float8& format) {
  const int code = bits & 0x7f;
  const float sign = (bits & 0x80) != 0 ? -1.0F : 1.0F;
  if (code > format.greatest) {
    const bool infinite = code == format.overflow && format.overflow != format.nan;
    using Limits = std::numeric_limits<float>;
    return std::copysign(infinite ? Limits::infinity() : Limits::quiet_NaN(), sign);
  }
  const int field = code >> format.mantissa, hidden = 1 << format.mantissa;
  const int units = code % hidden + (field == 0 ? 0 : hidden);
  return sign * std::ldexp(static_cast<float>(units), std::max(field - 1, 0) + format.least - format.mantissa);
}

}  // namespace

float8_e4m3fn::float8_e4m3fn(float x) : bits(encode(x, e4m3fn)) {}
float8_e4m3fn::operator float() const { return decode(bits, e4m3fn); }

float8_e5m2::float8_e5m2(float x) : bits(encode(x, e5m2)) {}
float8_e5m2::operator float() const { return decode(bits, e5m2); }

}  // namespace mezzo
