#include <mezzo/layers/normalization/batch_normalization.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/initializers/constant.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/helpers.hpp>

namespace mezzo {

BatchNormalization::BatchNormalization(BatchNormalizationOptions options)
    : Layer("BatchNormalization", options), options_(std::move(options)) {
  if (!(options_.momentum >= 0 && options_.momentum <= 1)) {
    fail<ValueError>(label(), "momentum must lie in [0, 1]; got {}", options_.momentum);
  }
  if (!(options_.epsilon >= 0)) fail<ValueError>(label(), "epsilon must not be negative; got {}", options_.epsilon);
  set_weight_files({.skip = {"num_batches_tracked"}});
}

void BatchNormalization::add_channel_weight(Variable& variable, WeightOptions options) {
  options.autocast = false;
  options.at_least_float32 = true;
  add_weight(variable, options);
}

void BatchNormalization::build(const Shape& input) {
  detail::require_rank_at_least(label(), input, 2);
  const std::int64_t channels = detail::known_size(label(), input, options_.axis);
  if (options_.scale) {
    add_channel_weight(gamma_, {.shape = {channels},
                                .initializer = options_.gamma_initializer,
                                .regularizer = options_.gamma_regularizer,
                                .constraint = options_.gamma_constraint,
                                .file_name = "weight"});
  }
  if (options_.center) {
    add_channel_weight(beta_, {.shape = {channels},
                               .initializer = options_.beta_initializer,
                               .regularizer = options_.beta_regularizer,
                               .constraint = options_.beta_constraint,
                               .file_name = "bias"});
  }
  add_channel_weight(moving_mean_, {.shape = {channels},
                                    .initializer = options_.moving_mean_initializer,
                                    .trainable = false,
                                    .file_name = "running_mean"});
  add_channel_weight(moving_variance_, {.shape = {channels},
                                        .initializer = options_.moving_variance_initializer,
                                        .trainable = false,
                                        .file_name = "running_var"});
}

/// Result of batch_norm() with statistics of the elements whose mask is true, in ops. Operands: x, its mask, gamma,
/// beta, the moving mean and variance.
Values BatchNormalization::normalize_masked(const Values& operands) const {
  const Value &x = operands[0], &mask = operands[1];
  const DType dtype = detail::casts_disabled() ? x.dtype() : detail::current_policy().compute_dtype();
  const Value wide = cast(x, accumulation_dtype(dtype));
  Value mean = operands[4], variance = operands[5], moving_mean = mean, moving_variance = variance;
  if (detail::training_phase() && detail::current_trainable()) {
    Shape axes;
    for (std::size_t i = 0; i + 1 < x.shape().size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    const auto mean_of_ranks = detail::mean_of_ranks(options_.synchronized);
    const auto mean_over_rows = [&](const Value& of) {
      const Value own = mezzo::mean(of, {.axes = axes});
      return mean_of_ranks ? mean_of_ranks(own) : own;
    };
    const double rows = static_cast<double>(std::max<std::int64_t>(detail::count_along(x.shape(), axes), 1));
    Value epsilon = 1e-7 / rows;  // keras.config.epsilon() by row of all ranks, for masks that are all false
    if (mean_of_ranks)
      epsilon = cast(detail::runtime_scalar(detail::RuntimeScalar::sample_share) * epsilon, wide.dtype());
    const Value share = mean_over_rows(cast(mask, wide.dtype())) + epsilon;
    mean = mean_over_rows(where(mask, wide, 0.0)) / share;
    const Value difference = where(mask, wide - mean, 0.0);
    variance = mean_over_rows(difference * difference) / share;
    const double momentum = options_.momentum;
    moving_mean = moving_mean * momentum + mean * (1 - momentum);
    moving_variance = moving_variance * momentum + variance * (1 - momentum);
  }
  const Value y = (wide - mean) * (rsqrt(variance + options_.epsilon) * operands[2]) + operands[3];
  return {cast(y, dtype), moving_mean, moving_variance};
}

Value BatchNormalization::normalize(const Value& x, const Value& mask) {
  const Shape& channels = moving_mean_.shape();
  const Value gamma = options_.scale ? Value(gamma_) : Value(Ones().make(channels, DType::float32, 0));
  const Value beta = options_.center ? Value(beta_) : Value(Zeros().make(channels, DType::float32, 0));
  if (mask.defined()) {
    const Spec statistics{channels, moving_mean_.dtype()};
    const auto masked = [layer = *this](const Values& operands) { return layer.normalize_masked(operands); };
    const Values out = detail::defer(masked, {x, mask, gamma, beta, moving_mean_, moving_variance_},
                                     {{x.shape(), x.dtype()}, statistics, statistics});
    update(moving_mean_, out[1]);
    update(moving_variance_, out[2]);
    return out[0];
  }
  const BatchNormResult result =
      batch_norm(x, gamma, beta, moving_mean_, moving_variance_,
                 {.epsilon = options_.epsilon, .momentum = options_.momentum, .synchronized = options_.synchronized});
  update(moving_mean_, result.moving_mean);
  update(moving_variance_, result.moving_variance);
  return result.y;
}

Value BatchNormalization::call(const Value& x) {
  const std::int64_t last = static_cast<std::int64_t>(x.shape().size()) - 1;
  const std::int64_t axis = detail::normalize_axis(options_.axis, x.shape().size(), label());
  Value mask = x.mask();
  if (mask.defined()) {
    if (static_cast<std::int64_t>(mask.shape().size()) != last) {
      fail<ShapeError>(label(), "the mask must have one axis less than the input {}; got shape {}", x.shape(),
                       mask.shape());
    }
    mask = logical_and(expand_dims(mask, -1), ones_like(x, DType::boolean));
  }
  if (axis == last) return normalize(x, mask);
  Shape to_last, back;
  for (std::int64_t i = 0; i <= last; ++i) {
    if (i != axis) to_last.push_back(i);
    back.push_back(i < axis ? i : i == axis ? last : i - 1);
  }
  to_last.push_back(axis);
  return transpose(normalize(transpose(x, to_last), mask.defined() ? transpose(mask, to_last) : mask), back);
}

}  // namespace mezzo
