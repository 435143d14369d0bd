#include <mezzo/layers/preprocessing/normalization.hpp>

#include <tuple>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/in_wide.hpp>
#include <mezzo/layers/preprocessing/preprocessing.hpp>
#include <mezzo/layers/preprocessing/running_moments.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/helpers.hpp>

namespace mezzo {

Normalization::Normalization(NormalizationOptions options)
    : Layer("Normalization", options), options_(std::move(options)) {
  const auto& [mean, variance] = std::tie(options_.mean, options_.variance);
  if (mean.has_value() != variance.has_value()) {
    fail<ValueError>(label(), "mean and variance must be given together; got {} alone", mean ? "mean" : "variance");
  }
  if (!mean) return;
  if (mean->shape() != variance->shape() || mean->shape().size() > options_.axis.size()) {
    fail<ShapeError>(label(), "mean and variance must have one shape of at most {} axes; got {} and {}",
                     options_.axis.size(), mean->shape(), variance->shape());
  }
  for (const double one : mean->to_doubles()) detail::require_finite(label(), "mean", one);
  for (const double one : variance->to_doubles()) {
    detail::require_finite(label(), "variance", one);
    if (one < 0) fail<ValueError>(label(), "variance must be at least 0; got {}", one);
  }
}

std::vector<bool> Normalization::kept(const Shape& input) const {
  std::vector<bool> kept(input.size());
  for (const std::int64_t axis : options_.axis) {
    const auto place = static_cast<std::size_t>(detail::normalize_axis(axis, input.size(), label()));
    if (input[place] < 0) fail<ShapeError>(label(), "axis {} must have a known size; got shape {}", axis, input);
    kept[place] = true;
  }
  return kept;
}

Shape Normalization::broadcast_shape(const Shape& input) const {
  Shape shape = input;
  const std::vector<bool> own = kept(input);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!own[i]) shape[i] = 1;
  }
  return shape;
}

void Normalization::build(const Shape& input) {
  const std::vector<bool> own = kept(input);
  if (options_.mean) return;
  Shape shape;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i]) shape.push_back(input[i]);
  }
  add_weight(mean_, {.shape = shape, .initializer = "zeros", .trainable = false, .at_least_float32 = true});
  add_weight(variance_, {.shape = shape, .initializer = "ones", .trainable = false, .at_least_float32 = true});
}

void Normalization::adapt(const Tensor& data) {
  if (data.shape().empty()) fail<ShapeError>(label(), "adapt: the array must have an axis of samples; got shape ()");
  if (data.size() == 0) fail<ShapeError>(label(), "adapt: the array must have numbers; got shape {}", data.shape());
  adapt(Dataset::from_tensors({{"x", data}}), "x");
}

void Normalization::adapt(const Dataset& data, const std::string& field) {
  if (options_.mean) fail<ValueError>(label(), "adapt: mean and variance were given and can't be adapted");
  detail::RunningMoments moments;
  detail::for_each_batch(data, field, label(), [&](const Tensor& batch) {
    if (moments.empty()) {
      Shape input = batch.shape();
      input[0] = -1;
      build(input);
    }
    Shape input = batch.shape();
    input[0] = -1;
    moments.add(batch, kept(input));
  });
  if (moments.empty()) fail<ShapeError>(label(), "adapt: samples must have numbers; got none");
  moments.check_finite(label());
  mean_.assign(moments.mean(mean_.shape()));
  variance_.assign(moments.variance(mean_.shape()));
}

Value Normalization::call(const Value& x) {
  const bool given = options_.mean.has_value();
  const Value mean = given ? Value(*options_.mean) : Value(mean_);
  const Value variance = given ? Value(*options_.variance) : Value(variance_);
  const auto normalize = [layer = *this](const Values& xs) {
    // A size for each of the last kept axes.
    Shape shape = layer.broadcast_shape(xs[0].shape());
    std::size_t from = xs[1].shape().size();
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (layer.kept(xs[0].shape())[i]) shape[i] = from > 0 ? static_cast<std::int64_t>(xs[1].shape()[--from]) : 1;
    }
    const Value center = reshape(xs[1], shape), scale = maximum(sqrt(reshape(xs[2], shape)), 1e-7);
    return layer.options_.invert ? center + xs[0] * scale : (xs[0] - center) / scale;
  };
  return detail::in_wide({x, mean, variance}, x.shape(), normalize);
}

}  // namespace mezzo
