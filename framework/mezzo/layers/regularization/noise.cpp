#include <mezzo/layers/regularization/noise.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/layers/regularization/spatial_dropout.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/draw_seed.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/listed.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/random.hpp>

namespace mezzo {
namespace {

void require_noise_shape(const std::string& where, const Shape& shape) {
  const auto bad = [](std::int64_t size) { return size < 1 && size != -1; };
  if (std::any_of(shape.begin(), shape.end(), bad)) {
    fail<ValueError>(where, "noise_shape must have sizes of at least 1, or -1; got ({})", fmt::join(shape, ", "));
  }
}

/// Throws a ShapeError unless `shape`, without -1, broadcasts to that of the input.
void require_fitting(const std::string& where, const Shape& shape, const Shape& input) {
  bool fits = shape.empty() || shape.size() == input.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] == -1 || shape[i] == 1 || input[i] < 0 || shape[i] == input[i];
  }
  if (fits) return;
  fail<ShapeError>(where, "noise_shape ({}) must have the sizes of the input, 1 or -1; got an input of shape {}",
                   fmt::join(shape, ", "), input);
}

/// `shape` with the sizes of x where it has -1.
Shape sizes_of_noise(Shape shape, const Value& x) {
  if (shape.empty()) return x.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) shape[i] = x.shape()[i].or_unknown();
  }
  return shape;
}

/// Factors of elements: 0 with probability `rate`, else 1 / (1 - rate).
Value drawn_factors(const Value& x, const Shape& shape, double rate) {
  return dropout(broadcast_to(Tensor::scalar(1, x.dtype()), sizes_of_noise(shape, x)), rate);
}

std::function<Value(const Value&)> dropped_by(double rate, const Shape& shape) {
  if (rate == 0) return {};
  return [rate, shape](const Value& x) {
    const Value factors = drawn_factors(x, shape, rate);
    return where(factors > 0, x * factors, 0.0);
  };
}

}  // namespace

Value detail::Noise::call(const Value& x) {
  const Op& op = find_op(name_in_lists());
  const auto run = [&op, function = noise(x.shape()), seed = seed_, draws = draws_](const Values& xs) -> Values {
    const DType narrow = detail::operand_dtype(op, xs[0]);
    const Value inside = detail::as(xs[0], narrow).across_border(false);  // same dtype in training and in inference
    if (!function || !detail::training_phase()) return {inside};
    std::optional<detail::LibraryScope> as_inserted;
    if (detail::under_op_lists()) as_inserted.emplace();
    const detail::DrawSeed scope(seed, *draws);
    return {function(inside)};
  };
  return detail::defer(run, {x}, {{x.shape(), detail::operand_dtype(op, x)}}).front();
}

Dropout::Dropout(DropoutOptions options) : detail::Noise("Dropout", options), options_(std::move(options)) {
  detail::require_rate(label(), "rate", options_.rate);
  require_noise_shape(label(), options_.noise_shape);
}

Value Dropout::call(const Value& x) {
  const bool plain = options_.noise_shape.empty() && !options_.seed;
  return plain ? dropout(x, options_.rate) : detail::Noise::call(x);
}

std::function<Value(const Value&)> Dropout::noise(const Shape& input) const {
  require_fitting(label(), options_.noise_shape, input);
  if (!options_.noise_shape.empty()) return dropped_by(options_.rate, options_.noise_shape);
  return [rate = options_.rate](const Value& x) { return dropout(x, rate); };
}

detail::SpatialDropout::SpatialDropout(const char* kind, std::size_t rank, const SpatialDropoutOptions& options)
    : detail::Noise(kind, options), rank_(rank), rate_(options.rate) {
  detail::require_rate(label(), "rate", rate_);
}

std::function<Value(const Value&)> detail::SpatialDropout::noise(const Shape& input) const {
  const char* const axes[] = {"(batch, steps, channels)", "(batch, height, width, channels)",
                              "(batch, depth, height, width, channels)"};
  detail::require_rank(label(), input, rank_, axes[rank_ - 3]);
  Shape shape(rank_, 1);
  shape.front() = shape.back() = -1;
  return dropped_by(rate_, shape);
}

const char* detail::SpatialDropout::name_in_lists() const {
  const char* const names[] = {"dropout1d", "dropout2d", "dropout3d"};
  return names[rank_ - 3];
}

GaussianNoise::GaussianNoise(GaussianNoiseOptions options)
    : detail::Noise("GaussianNoise", options), options_(std::move(options)) {
  if (!(options_.stddev >= 0 && options_.stddev <= 1)) {
    fail<ValueError>(label(), "stddev must lie in [0, 1]; got {}", options_.stddev);
  }
}

std::function<Value(const Value&)> GaussianNoise::noise(const Shape&) const {
  if (options_.stddev == 0) return {};
  return [stddev = options_.stddev](const Value& x) {
    random::NormalOptions normal;
    normal.stddev = stddev;
    normal.dtype = x.dtype();
    return x + random::normal(x.shape(), normal);
  };
}

GaussianDropout::GaussianDropout(GaussianDropoutOptions options)
    : detail::Noise("GaussianDropout", options), options_(std::move(options)) {
  detail::require_rate(label(), "rate", options_.rate);
}

std::function<Value(const Value&)> GaussianDropout::noise(const Shape&) const {
  if (options_.rate == 0) return {};
  return [stddev = std::sqrt(options_.rate / (1 - options_.rate))](const Value& x) {
    random::NormalOptions normal;
    normal.mean = 1.0;
    normal.stddev = stddev;
    normal.dtype = x.dtype();
    return x * random::normal(x.shape(), normal);
  };
}

AlphaDropout::AlphaDropout(AlphaDropoutOptions options)
    : detail::Noise("AlphaDropout", options), options_(std::move(options)) {
  detail::require_rate(label(), "rate", options_.rate);
  require_noise_shape(label(), options_.noise_shape);
}

std::function<Value(const Value&)> AlphaDropout::noise(const Shape& input) const {
  require_fitting(label(), options_.noise_shape, input);
  if (options_.rate == 0) return {};
  return [rate = options_.rate, shape = options_.noise_shape](const Value& x) {
    const double limit = -1.6732632423543772 * 1.0507009873554805;  // of selu
    const double scale = 1 / std::sqrt((1 - rate) * (1 + rate * limit * limit));
    const Value kept = drawn_factors(x, shape, rate) > 0;
    return where(kept, x, limit) * scale - scale * limit * rate;
  };
}

}  // namespace mezzo
