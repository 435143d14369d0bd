#include <mezzo/core/float8.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/core/float_bits.hpp>

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

using detail::bits_of;

constexpr int float_mantissa = 23, float_bias = 127;

std::uint8_t encode(float x, const Float8& format) {
  constexpr std::uint32_t infinity = 0x7f800000;
  const std::uint32_t sign = bits_of(x) >> 31 << 7, magnitude = bits_of(x) & 0x7fffffffU;
  const int shift = float_mantissa - format.mantissa;
  const std::uint32_t least = static_cast<std::uint32_t>(float_bias + format.least) << float_mantissa;
  std::uint32_t code = 0;
  if (magnitude >= infinity) {
    code = magnitude > infinity ? format.nan : format.overflow;
  } else if (magnitude < least) {  // the sum's last bit is that of subnormals
    const float unit = std::ldexp(1.0F, shift + format.least);
    code = bits_of(std::abs(x) + unit) - bits_of(unit);
  } else {
    const std::uint32_t odd = magnitude >> shift & 1U;
    const std::uint32_t rounded = magnitude + (1U << (shift - 1)) - 1 + odd;
    code = (rounded >> shift) - (static_cast<std::uint32_t>(float_bias + format.least - 1) << format.mantissa);
    if (code > format.greatest) code = format.overflow;
  }
  return static_cast<std::uint8_t>(sign | code);
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

std::array<float, 256> decoded(const Float8& format) {
  std::array<float, 256> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = decode(static_cast<std::uint8_t>(i), format);
  return out;
}

}  // namespace

float8_e4m3fn::float8_e4m3fn(float x) : bits(encode(x, e4m3fn)) {}
float8_e4m3fn::operator float() const {
  static const std::array<float, 256> numbers = decoded(e4m3fn);
  return numbers[bits];
}

float8_e5m2::float8_e5m2(float x) : bits(encode(x, e5m2)) {}
float8_e5m2::operator float() const {
  static const std::array<float, 256> numbers = decoded(e5m2);
  return numbers[bits];
}

}  // namespace mezzo
