#include <mezzo/core/dynamic_code.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/core/dynamic_code_tables.hpp>
#include <mezzo/core/float_bits.hpp>

namespace mezzo::detail {

DynamicCode::DynamicCode(bool sign)
    : has_sign(sign), zero(sign ? 0xff : 0), values{}, powers{}, segments{}, least_rank(sign ? 0 : 1) {
  float before = has_sign ? 0 : 1e-7F;  // number of the rank before
  for (int decade = 0; decade < decades; ++decade) {
    const int parts = parts_of(decade, has_sign), first = has_sign ? parts : parts - 1;
    const double end = std::pow(10.0, decade - decades + 1);
    powers[decade] = static_cast<float>(end);
    for (int i = 0; i < parts; ++i) {
      // The operations of vectorized decoders.
      const float part = (static_cast<float>(i) + 0.5F) / static_cast<float>(parts);
      const float number = (part * 0.9F + 0.1F) * powers[decade];
      values[(zero + first + i) & 0xff] = number;
      if (has_sign) values[(zero - first - i) & 0xff] = -number;
    }
    set_segment(decade, (before + values[(zero + first) & 0xff]) / 2, parts / (0.9 * end), first - parts * 0.1 / 0.9,
                first + parts - 1);
    before = values[(zero + first + parts - 1) & 0xff];
  }
  const int top = has_sign ? 128 : 255;
  values[(zero + top) & 0xff] = 1;
  powers[decades] = 1;
  set_segment(decades, (before + 1) / 2, 0, top, top);
}

void DynamicCode::set_segment(int i, float from, double factor, double offset, int last) {
  segments.from[i] = from;
  segments.factor[i] = static_cast<float>(factor);
  segments.offset[i] = static_cast<float>(offset);
  segments.last[i] = static_cast<float>(last);
}

const DynamicCode& DynamicCode::of(DType dtype) {
  static const DynamicCode with_sign(true), without(false);
  return dtype == DType::int8 ? with_sign : without;
}

void DynamicCode::decode(const std::uint8_t* codes, float scale, float* to, std::int64_t count) const {
  for (std::int64_t i = 0; i < count; ++i) to[i] = values[codes[i]] * scale;
}

float DynamicCode::encode(const float* from, std::int64_t count, std::uint8_t* codes) const {
  std::uint32_t largest = 0;
  float highest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, bits_of(from[i]) & 0x7fffffffU);
    highest = from[i] > highest ? from[i] : highest;
  }
  const float scale = scale_of(largest, highest);
  if (!(std::abs(scale) > 0)) {
    std::fill_n(codes, count, zero);
    return scale;
  }
  const bool inverts = has_inverse(scale);
  const float inverse = 1 / scale;
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = inverts ? from[i] * inverse : from[i] / scale, magnitude = std::abs(x);
    float number = least_rank;
    for (int j = 0; j < segment_count && magnitude >= segments.from[j]; ++j) {
      number = std::min(magnitude * segments.factor[j] + segments.offset[j], segments.last[j]);
    }
    int rank = static_cast<int>(number);
    if (has_sign && std::signbit(x)) rank = -std::min(rank, 127);
    if (!has_sign && from[i] == 0) rank = 0;
    codes[i] = static_cast<std::uint8_t>(zero + rank);
  }
  return scale;
}

float DynamicCode::scale_of(std::uint32_t largest, float highest) {
  float scale = 0;
  std::memcpy(&scale, &largest, sizeof scale);
  if (!(scale - scale == 0)) return std::numeric_limits<float>::quiet_NaN();
  if (scale < least_scale) return 0;
  return highest == scale ? scale : -scale;
}

DynamicCodeTables::DynamicCodeTables(const DynamicCode& code) {
  const auto exponent_of = [](float x) { return bits_of(x) >> 23; };
  const float shift = code.has_sign ? 0.5F : 1.5F;
  for (int decade = 0; decade < DynamicCode::decades; ++decade) {
    const int parts = DynamicCode::parts_of(decade, code.has_sign);
    const auto first = static_cast<float>(code.has_sign ? parts : parts - 1);
    powers[exponent_of(first + shift) % 16] = code.powers[decade];
  }
  const DynamicCode::Segments& segments = code.segments;
  constexpr int count = DynamicCode::segment_count;
  const float top = segments.last[count - 1] + shift;
  const float number = (std::ldexp(top, -std::ilogb(top)) - 1) * 0.9F + 0.1F;
  float power = 1 / number;
  while (power * number < 1) power = std::nextafter(power, 16.0F);
  powers[exponent_of(top) % 16] = power;
  for (int i = 0; i < 32; ++i) {
    const float begin = std::ldexp(1.0F, i - 31);
    const float* const found = std::upper_bound(segments.from, segments.from + count, begin);
    begun[i] = static_cast<std::int32_t>(found - segments.from);
    const bool within = begun[i] < count && *found < 2 * begin;
    next[i] = within ? *found : std::numeric_limits<float>::infinity();
  }
  offset[0] = last[0] = code.least_rank;
  for (int i = 0; i < count; ++i) {
    factor[i + 1] = segments.factor[i];
    offset[i + 1] = segments.offset[i];
    last[i + 1] = segments.last[i];
  }
}

const DynamicCodeTables& DynamicCodeTables::of(bool has_sign) {
  static const DynamicCodeTables with_sign(DynamicCode::of(DType::int8)), without(DynamicCode::of(DType::uint8));
  return has_sign ? with_sign : without;
}

}  // namespace mezzo::detail
