#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/layers/in_wide.hpp>
#include <mezzo/layers/normalization/group_normalization.hpp>
#include <mezzo/layers/normalization/rms_normalization.hpp>
#include <mezzo/layers/normalization/unit_normalization.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/listed.hpp>
#include <mezzo/ops/op_set.hpp>

// Normalizations that are composed of ops, in the accumulation dtype (float32; float64 for float64).
namespace mezzo {
namespace {

void require_normalization(const std::string& where, const detail::Ints& axis, double epsilon) {
  if (axis.empty()) fail<ValueError>(where, "axis must be one number or more; got none");
  if (!(epsilon >= 0)) fail<ValueError>(where, "epsilon must not be negative; got {}", epsilon);
}

/// `parameter` with the rank of an input whose axes it has.
Value along(const Value& parameter, const Shape& axes, std::size_t rank) {
  Shape shape(rank, 1);
  for (std::size_t i = 0; i < axes.size(); ++i) shape[static_cast<std::size_t>(axes[i])] = parameter.shape()[i];
  return reshape(parameter, shape);
}

/// x in groups of its channels: (..., channels, ...) becomes (..., groups, channels / groups, ...).
Shape grouped(Shape shape, std::size_t axis, std::int64_t groups) {
  shape[axis] /= groups;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), groups);
  return shape;
}

/// detail::as_wide() of an input of a layer, without rounding features from outside to the compute dtype first.
Value unrounded(const Value& x, DType& narrow) {
  narrow = detail::operand_dtype(ops::mean, x);
  return detail::as((x.weak() ? Value(x.tensor()) : x).across_border(false), accumulation_dtype(narrow));
}

}  // namespace

GroupNormalization::GroupNormalization(GroupNormalizationOptions options)
    : Layer("GroupNormalization", options), options_(std::move(options)) {
  if (options_.groups < 1 && options_.groups != -1) {
    fail<ValueError>(label(), "groups must be at least 1, or -1; got {}", options_.groups);
  }
  require_normalization(label(), options_.axis, options_.epsilon);
}

std::size_t GroupNormalization::channel_axis(const Shape& input) const {
  detail::require_rank_at_least(label(), input, 2);
  const std::int64_t axis = detail::normalize_axis(options_.axis, input.size(), label());
  if (axis == 0) fail<ValueError>(label(), "axis must not be 0, the batch; got {}", options_.axis);
  return static_cast<std::size_t>(axis);
}

void GroupNormalization::build(const Shape& input) {
  const std::size_t axis = channel_axis(input);
  const std::int64_t channels = detail::known_size(label(), input, static_cast<std::int64_t>(axis));
  if (channels > 0 && options_.groups > 0 && channels % options_.groups != 0) {
    fail<ShapeError>(label(), "input axis {} must be a multiple of groups ({}); got shape {}", axis, options_.groups,
                     input);
  }
  if (options_.scale) {
    add_weight(gamma_, {.shape = {channels},
                        .initializer = options_.gamma_initializer,
                        .autocast = false,
                        .regularizer = options_.gamma_regularizer,
                        .constraint = options_.gamma_constraint,
                        .at_least_float32 = true,
                        .file_name = "weight"});
  }
  if (options_.center) {
    add_weight(beta_, {.shape = {channels},
                       .initializer = options_.beta_initializer,
                       .autocast = false,
                       .regularizer = options_.beta_regularizer,
                       .constraint = options_.beta_constraint,
                       .at_least_float32 = true,
                       .file_name = "bias"});
  }
}

Value GroupNormalization::call(const Value& x) {
  const std::size_t axis = channel_axis(x.shape());
  const std::int64_t channels = x.shape()[axis].or_unknown(),
                     groups = options_.groups == -1 ? channels : options_.groups;
  const Variable& known = options_.scale ? gamma_ : beta_;
  const bool changed = known.filled() ? known.shape()[0] != channels : channels % groups != 0;
  if (changed) {
    fail<ShapeError>(label(), "input axis {} must be {}; got shape {}", axis,
                     known.filled() ? fmt::format("{} (size of the weights)", known.shape()[0])
                                    : fmt::format("a multiple of groups ({})", groups),
                     x.shape());
  }
  Values inputs{x};
  if (options_.scale) inputs.push_back(gamma_);
  if (options_.center) inputs.push_back(beta_);
  const auto run = [axis, groups, scale = options_.scale, center = options_.center,
                    epsilon = options_.epsilon](const Values& xs) -> Values {
    DType narrow{};
    const Value wide = unrounded(xs[0], narrow);
    const Shape& shape = wide.shape();
    Shape parameter(shape.size(), 1), others;
    parameter[axis] = shape[axis];
    for (std::size_t i = 1; i <= shape.size(); ++i) {
      if (i != axis) others.push_back(static_cast<std::int64_t>(i));
    }
    parameter = grouped(parameter, axis, groups);
    const auto of_channels = [&](const Value& weight) { return reshape(detail::as(weight, wide.dtype()), parameter); };
    const Value y = reshape(wide, grouped(shape, axis, groups));
    const Value distance = y - mean(y, {others, true});
    Value factor = rsqrt(mean(distance * distance, {others, true}) + epsilon);
    if (scale) factor = factor * of_channels(xs[1]);
    Value out = distance * factor;
    if (center) out = out + of_channels(xs.back());
    return {detail::as(reshape(out, shape), narrow)};
  };
  const Op& op = groups == channels ? ops::instance_norm : ops::group_norm;
  const auto listed = [run, &op](const Values& xs) { return detail::as_listed(op, xs, run); };
  return detail::defer(listed, inputs, {{x.shape(), dtype_policy().compute_dtype()}}).front();
}

RMSNormalization::RMSNormalization(RMSNormalizationOptions options)
    : Layer("RMSNormalization", options), options_(std::move(options)) {
  require_normalization(label(), options_.axis, options_.epsilon);
}

void RMSNormalization::build(const Shape& input) {
  Shape shape;
  for (const std::int64_t axis : detail::normalize_axes(options_.axis.numbers(), input.size(), label())) {
    shape.push_back(detail::known_size(label(), input, axis));
  }
  add_weight(
      scale_,
      {.shape = shape, .initializer = "ones", .autocast = false, .at_least_float32 = true, .file_name = "weight"});
}

Value RMSNormalization::call(const Value& x) {
  const Shape axes = detail::normalize_axes(options_.axis.numbers(), x.shape().size(), label());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t size = x.shape()[static_cast<std::size_t>(axes[i])].or_unknown();
    if (size < 0 || size == scale_.shape()[i]) continue;
    fail<ShapeError>(label(), "input axis {} must be {} (size of scale); got shape {}", axes[i], scale_.shape()[i],
                     x.shape());
  }
  return detail::in_wide({x, scale_}, x.shape(), [axes, epsilon = options_.epsilon](const Values& xs) {
    const Value squares = mean(xs[0] * xs[0], {axes, true});
    return xs[0] * rsqrt(squares + epsilon) * along(xs[1], axes, xs[0].shape().size());
  });
}

UnitNormalization::UnitNormalization(UnitNormalizationOptions options)
    : Layer("UnitNormalization", options), options_(std::move(options)) {
  require_normalization(label(), options_.axis, 0);
}

Value UnitNormalization::call(const Value& x) {
  const Shape axes = detail::normalize_axes(options_.axis.numbers(), x.shape().size(), label());
  return detail::in_wide({x}, x.shape(), [axes](const Values& xs) {
    return xs[0] * rsqrt(maximum(sum(xs[0] * xs[0], {axes, true}), 1e-24));
  });
}

}  // namespace mezzo
