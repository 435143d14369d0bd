#include <mezzo/layers/normalization/layer_normalization.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/initializers/constant.hpp>
#include <mezzo/layers/in_wide.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

/// Sizes of `shape` along `axes`.
Shape sizes_of(const Shape& shape, const Shape& axes) {
  Shape sizes;
  for (const auto axis : axes) sizes.push_back(shape[static_cast<std::size_t>(axis)]);
  return sizes;
}

/// Permutation of all axes that moves `axes` to the end.
Shape with_last(const Shape& axes, std::size_t rank) {
  Shape order;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(rank); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) order.push_back(i);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  return order;
}

}  // namespace

LayerNormalization::LayerNormalization(LayerNormalizationOptions options)
    : Layer("LayerNormalization", options), options_(std::move(options)) {
  if (options_.axis.empty()) fail<ValueError>(label(), "axis must be one number or more; got none");
  if (!(options_.epsilon >= 0)) fail<ValueError>(label(), "epsilon must not be negative; got {}", options_.epsilon);
}

Shape LayerNormalization::axes_of(std::size_t rank) const {
  Shape axes;
  for (const auto axis : options_.axis.numbers()) axes.push_back(detail::normalize_axis(axis, rank, label()));
  std::sort(axes.begin(), axes.end());
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) fail<ValueError>(label(), "axes must differ; got {} twice", *twice);
  return axes;
}

void LayerNormalization::build(const Shape& input) {
  const Shape axes = axes_of(input.size());
  for (const std::int64_t axis : axes) detail::known_size(label(), input, axis);
  const Shape shape = sizes_of(input, axes);
  if (options_.scale) {
    add_weight(gamma_, {.shape = shape,
                        .initializer = options_.gamma_initializer,
                        .autocast = false,
                        .regularizer = options_.gamma_regularizer,
                        .constraint = options_.gamma_constraint,
                        .at_least_float32 = true,
                        .file_name = "weight"});
  }
  if (options_.center) {
    add_weight(beta_, {.shape = shape,
                       .initializer = options_.beta_initializer,
                       .autocast = false,
                       .regularizer = options_.beta_regularizer,
                       .constraint = options_.beta_constraint,
                       .at_least_float32 = true,
                       .file_name = "bias"});
  }
}

Value LayerNormalization::normalize(const Value& x, const Shape& shape) {
  const Value gamma = options_.scale ? Value(gamma_) : Value(Ones().make(shape, DType::float32, 0));
  const Value beta = options_.center ? Value(beta_) : Value(Zeros().make(shape, DType::float32, 0));
  const auto run = [epsilon = options_.epsilon](const Values& xs) -> Values {
    const auto normalized = [epsilon](const Values& of) { return layer_norm(of[0], of[1], of[2], epsilon); };
    if (detail::is_wider_than_compute(xs[0])) return {detail::in_wide(xs, xs[0].shape(), normalized)};
    return {normalized(xs)};
  };
  return detail::defer(run, {x, gamma, beta}, {{x.shape(), compute_dtype()}}).front();
}

Value LayerNormalization::call(const Value& x) {
  const Shape axes = axes_of(x.shape().size());
  const Shape order = with_last(axes, x.shape().size());
  const Shape sizes = sizes_of(x.shape(), axes);
  if (std::is_sorted(order.begin(), order.end())) return normalize(x, sizes);
  return transpose(normalize(transpose(x, order), sizes), detail::inverse_permutation(order));
}

}  // namespace mezzo
