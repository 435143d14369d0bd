#include <mezzo/precision/nf4.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mezzo {
namespace {

float scale_of(const float* numbers, std::int64_t count) {
  float most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) return std::numeric_limits<float>::quiet_NaN();
    most = std::max(most, std::abs(numbers[i]));
  }
  return most;
}

}  // namespace

std::uint8_t detail::nf4_code(float x) {
  std::size_t code = 0;
  while (code < 15 && x > (nf4_values[code] + nf4_values[code + 1]) / 2) ++code;
  return static_cast<std::uint8_t>(code);
}

void nf4_encode(const float* numbers, std::int64_t count, std::uint8_t* codes, float* scales) {
  std::fill_n(codes, (count + 1) / 2, std::uint8_t{0});
  for (std::int64_t begin = 0; begin < count; begin += nf4_block) {
    const std::int64_t size = std::min(nf4_block, count - begin);
    const float scale = scales[begin / nf4_block] = scale_of(numbers + begin, size);
    for (std::int64_t i = begin; i < begin + size; ++i) {
      const int code = detail::nf4_code(scale > 0 ? numbers[i] / scale : 0);
      codes[i / 2] = static_cast<std::uint8_t>(codes[i / 2] | (i % 2 == 0 ? code << 4 : code));
    }
  }
}

void nf4_decode(const std::uint8_t* codes, const float* scales, std::int64_t count, float* numbers) {
  for (std::int64_t i = 0; i < count; ++i) {
    const int code = i % 2 == 0 ? codes[i / 2] >> 4 : codes[i / 2] & 15;
    numbers[i] = nf4_values[static_cast<std::size_t>(code)] * scales[i / nf4_block];
  }
}

}  // namespace mezzo
