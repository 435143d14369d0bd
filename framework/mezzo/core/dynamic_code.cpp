#include <mezzo/core/dynamic_code.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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
    segments[decade] = {(before + values[(zero + first) & 0xff]) / 2, static_cast<float>(parts / (0.9 * end)),
                        static_cast<float>(first - parts * 0.1 / 0.9), static_cast<float>(first + parts - 1)};
    before = values[(zero + first + parts - 1) & 0xff];
  }
  const int top = has_sign ? 128 : 255;
  values[(zero + top) & 0xff] = 1;
  segments[decades] = {(before + 1) / 2, 0, static_cast<float>(top), static_cast<float>(top)};
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
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = from[i] / scale, magnitude = std::abs(x);
    Segment segment{0, 0, least_rank, least_rank};
    for (const Segment& next : segments) {
      if (magnitude >= next.from) segment = next;
    }
    int rank = static_cast<int>(std::min(magnitude * segment.factor + segment.offset, segment.last));
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

}  // namespace mezzo::detail
