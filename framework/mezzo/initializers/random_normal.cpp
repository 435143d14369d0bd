#include <mezzo/initializers/random_normal.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/draw.hpp>

namespace mezzo {

RandomNormal::RandomNormal(RandomNormalOptions options) : options_(options) {
  if (!(options_.stddev >= 0))
    fail<ValueError>("[RandomNormal]", "stddev must not be negative; got {}", options_.stddev);
}

Tensor RandomNormal::make(const Shape& shape, DType dtype, std::uint64_t key) const {
  return detail::draw_each(shape, dtype,
                           [&](std::uint64_t i) { return options_.mean + options_.stddev * detail::normal(key, i); });
}

}  // namespace mezzo
