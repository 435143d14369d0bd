#include <mezzo/initializers/truncated_normal.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/draw.hpp>

namespace mezzo {

TruncatedNormal::TruncatedNormal(TruncatedNormalOptions options) : options_(options) {
  if (!(options_.stddev >= 0))
    fail<ValueError>("[TruncatedNormal]", "stddev must not be negative; got {}", options_.stddev);
}

Tensor TruncatedNormal::make(const Shape& shape, DType dtype, std::uint64_t key) const {
  return detail::draw_each(shape, dtype, [&](std::uint64_t i) {
    return options_.mean + options_.stddev * detail::truncated_normal(key, i);
  });
}

}  // namespace mezzo
