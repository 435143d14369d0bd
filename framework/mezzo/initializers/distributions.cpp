#include <cmath>
#include <functional>
#include <optional>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/initializers/constant.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/initializers/truncated_normal.hpp>

namespace mezzo {
namespace {

/// Returns a tensor with draw(i), rounded once from double, as element i. Several threads call `draw`.
Tensor draw_each(const Shape& shape, DType dtype, const std::function<double(std::uint64_t)>& draw) {
  Tensor out = Tensor::uninitialized(shape, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* elements = out.mutable_data<T>();
    parallel_for(out.size(), 1024, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) elements[i] = convert<T>(draw(static_cast<std::uint64_t>(i)));
    });
  });
  return out;
}

/// Number i of the key's random stream, uniform in [0, 1).
double uniform(std::uint64_t key, std::uint64_t i) {
  const auto words = philox(key, i);
  return unit_double(words[0], words[1]);
}

/// Number i of the key's random stream, normal with mean 0 and standard deviation 1 (Box and Muller, 1958). `attempt`
/// selects a further stream.
double normal(std::uint64_t key, std::uint64_t i, std::uint64_t attempt = 0) {
  constexpr double two_pi = 6.283185307179586;
  const auto words = philox(key, i, attempt);
  const double radius = std::sqrt(-2 * std::log(1 - unit_double(words[0], words[1])));
  return radius * std::cos(two_pi * unit_double(words[2], words[3]));
}

/// Number i of the key's random stream, as normal() but redrawn until it lies in [-2, 2].
double truncated_normal(std::uint64_t key, std::uint64_t i) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const double x = normal(key, i, attempt);
    if (std::abs(x) <= 2) return x;
  }
}

/// Key of an initializer with a seed of its own.
std::uint64_t seeded(const std::optional<std::uint64_t>& seed, std::uint64_t key) {
  return seed ? detail::mix(*seed, 0) : key;
}

}  // namespace

Tensor Constant::make(const Shape& shape, DType dtype, std::uint64_t) const {
  check_not_moved();
  if (values_ && values_->size() != 1) {
    if (values_->shape() == shape) return values_->cast(dtype).copy();
    fail<ShapeError>("[Constant]", "the array must have the weight's shape {}; got shape {}", shape, values_->shape());
  }
  return draw_each(shape, dtype, [value = values_ ? values_->item() : value_](std::uint64_t) { return value; });
}

RandomNormal::RandomNormal(RandomNormalOptions options) : options_(options) {
  if (!(options_.stddev >= 0))
    fail<ValueError>("[RandomNormal]", "stddev must not be negative; got {}", options_.stddev);
}

Tensor RandomNormal::make(const Shape& shape, DType dtype, std::uint64_t key) const {
  check_not_moved();
  const std::uint64_t own = seeded(options_.seed, key);
  return draw_each(shape, dtype, [&](std::uint64_t i) { return options_.mean + options_.stddev * normal(own, i); });
}

RandomUniform::RandomUniform(RandomUniformOptions options) : options_(options) {
  if (!(options_.minval <= options_.maxval)) {
    fail<ValueError>("[RandomUniform]", "maxval must not be below minval; got minval {}, maxval {}", options_.minval,
                     options_.maxval);
  }
}

Tensor RandomUniform::make(const Shape& shape, DType dtype, std::uint64_t key) const {
  check_not_moved();
  const std::uint64_t own = seeded(options_.seed, key);
  return draw_each(shape, dtype, [&](std::uint64_t i) {
    return options_.minval + (options_.maxval - options_.minval) * uniform(own, i);
  });
}

TruncatedNormal::TruncatedNormal(TruncatedNormalOptions options) : options_(options) {
  if (!(options_.stddev >= 0))
    fail<ValueError>("[TruncatedNormal]", "stddev must not be negative; got {}", options_.stddev);
}

Tensor TruncatedNormal::make(const Shape& shape, DType dtype, std::uint64_t key) const {
  check_not_moved();
  const std::uint64_t own = seeded(options_.seed, key);
  return draw_each(shape, dtype,
                   [&](std::uint64_t i) { return options_.mean + options_.stddev * truncated_normal(own, i); });
}

}  // namespace mezzo
