#include <mezzo/layers/batch_normalization.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/constant.hpp>
#include <mezzo/nn/checks.hpp>

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
  const auto channels = input[static_cast<std::size_t>(normalize_axis(options_.axis, input.size(), label()))];
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

Value BatchNormalization::normalize(const Value& x) {
  const Shape& channels = moving_mean_.shape();
  const Value gamma = options_.scale ? Value(gamma_) : Value(Ones().make(channels, DType::float32, 0));
  const Value beta = options_.center ? Value(beta_) : Value(Zeros().make(channels, DType::float32, 0));
  const BatchNormResult result = batch_norm(x, gamma, beta, moving_mean_, moving_variance_,
                                            {.epsilon = options_.epsilon, .momentum = options_.momentum});
  update(moving_mean_, result.moving_mean);
  update(moving_variance_, result.moving_variance);
  return result.y;
}

Value BatchNormalization::call(const Value& x) {
  const std::int64_t last = static_cast<std::int64_t>(x.shape().size()) - 1;
  const std::int64_t axis = normalize_axis(options_.axis, x.shape().size(), label());
  if (axis == last) return normalize(x);
  Shape to_last, back;
  for (std::int64_t i = 0; i <= last; ++i) {
    if (i != axis) to_last.push_back(i);
    back.push_back(i < axis ? i : i == axis ? last : i - 1);
  }
  to_last.push_back(axis);
  return transpose(normalize(transpose(x, to_last)), back);
}

}  // namespace mezzo
