#include <mezzo/core/float16.hpp>

#include <cstring>

#include <mezzo/core/float_bits.hpp>

namespace mezzo {
namespace {

using detail::bits_of;

float float_of(std::uint32_t u) {
  float x = 0;
  std::memcpy(&x, &u, sizeof x);
  return x;
}

}  // namespace

float16::float16(float x) {
  const std::uint32_t u = bits_of(x);
  const auto sign = static_cast<std::uint16_t>((u >> 16) & 0x8000U);
  const std::uint32_t magnitude = u & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    bits = sign | 0x7e00U;
  } else if (magnitude >= 0x477ff000U) {  // 65520 and above round to infinity
    bits = sign | 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14: the float adder rounds into multiples of 2^-24
    const float shifted = float_of(magnitude) + 0.5F;
    bits = static_cast<std::uint16_t>(sign | (bits_of(shifted) - bits_of(0.5F)));
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1U;
    bits = static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13));
  }
}

float16::operator float() const {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U) return float_of(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13));
  if (magnitude < 0x400U) {
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  return float_of(sign | ((magnitude << 13) + 0x38000000U));
}

}  // namespace mezzo
