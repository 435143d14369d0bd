#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/compose.hpp>
#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/losses/hinge.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/losses/mean_squared_error.hpp>
#include <mezzo/losses/overlap.hpp>
#include <mezzo/losses/regression.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>

namespace mezzo {

using namespace detail;

Value mean_absolute_error(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("mean_absolute_error", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return mean_last(abs(targets.y_true - targets.y_pred));
}

Value mean_squared_error(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("mean_squared_error", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return mean_last(square(targets.y_true - targets.y_pred));
}

Value mean_absolute_percentage_error(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("mean_absolute_percentage_error", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return mean_last(abs((targets.y_true - targets.y_pred) / maximum(abs(targets.y_true), epsilon))) * 100.0;
}

Value mean_squared_logarithmic_error(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("mean_squared_logarithmic_error", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return mean_last(square(log(maximum(targets.y_pred, epsilon) + 1.0) - log(maximum(targets.y_true, epsilon) + 1.0)));
}

Value cosine_similarity(const Value& y_true, const Value& y_pred, const CosineSimilarityFunctionOptions& options) {
  const detail::Targets targets = detail::same_shape_targets("cosine_similarity", y_true, y_pred);
  const std::int64_t axis = normalized_axis("cosine_similarity", targets.y_pred, options.axis);
  const detail::LibraryScope as_inserted;
  return -sum_over(unit(targets.y_true, axis) * unit(targets.y_pred, axis), axis);
}

Value huber(const Value& y_true, const Value& y_pred, const HuberFunctionOptions& options) {
  const detail::Targets targets = detail::same_shape_targets("huber", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  const double delta = options.delta;
  const Value error = targets.y_pred - targets.y_true;
  const Value size = abs(error);
  return mean_last(where(greater(size, delta), size * delta - delta * delta / 2, square(error) * 0.5));
}

Value log_cosh(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("log_cosh", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  const Value error = targets.y_pred - targets.y_true;
  return mean_last(error + softplus(error * -2.0) - std::log(2.0));
}

Value poisson(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("poisson", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return mean_last(targets.y_pred - targets.y_true * log(targets.y_pred + epsilon));
}

Value hinge(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("hinge", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return mean_last(relu(1.0 - signed_labels(targets.y_true) * targets.y_pred));
}

Value squared_hinge(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("squared_hinge", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return mean_last(square(relu(1.0 - signed_labels(targets.y_true) * targets.y_pred)));
}

Value categorical_hinge(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("categorical_hinge", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  const Value right = sum_over(targets.y_true * targets.y_pred, -1);
  const Value wrong = max((1.0 - targets.y_true) * targets.y_pred, {{-1}});
  return relu(wrong - right + 1.0);
}

Value kl_divergence(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("kl_divergence", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  const Value t = clip(targets.y_true, epsilon, 1);
  return sum_over(t * log(t / clip(targets.y_pred, epsilon, 1)), -1);
}

Value dice(const Value& y_true, const Value& y_pred, const DiceFunctionOptions& options) {
  const detail::Targets targets = detail::same_shape_targets("dice", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  const ReduceOptions axes{.axes = options.axis};
  const Value both = sum(targets.y_true * targets.y_pred, axes);
  return 1.0 - both * 2.0 / (sum(targets.y_true, axes) + sum(targets.y_pred, axes) + epsilon);
}

Value tversky(const Value& y_true, const Value& y_pred, const TverskyFunctionOptions& options) {
  const detail::Targets targets = detail::same_shape_targets("tversky", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  const ReduceOptions axes{.axes = options.axis};
  const Value both = sum(targets.y_true * targets.y_pred, axes);
  const Value missed = sum(targets.y_true * (1.0 - targets.y_pred), axes);
  const Value wrong = sum(targets.y_pred * (1.0 - targets.y_true), axes);
  return 1.0 - both / (both + missed * options.alpha + wrong * options.beta + epsilon);
}

Value circle(const Value& y_true, const Value& y_pred, const CircleFunctionOptions& options) {
  const std::int64_t batch = y_pred.shape().empty() ? 0 : y_pred.shape().front().or_unknown();
  const bool one_label = y_true.shape() == Shape{batch} || y_true.shape() == Shape{batch, 1};
  if (y_pred.shape().size() != 2 || !one_label) {
    fail<ShapeError>("", "[circle] y_true must be (batch,) and y_pred (batch, size); got {} and {}", y_true.shape(),
                     y_pred.shape());
  }
  const detail::LibraryScope as_inserted;
  const DType dtype = accumulation_dtype(y_pred.dtype());
  const Value x = cast(y_pred, dtype).across_border(false);
  const Value labels = cast(y_true, DType::int64).across_border(false);
  const Value distance = relu(1.0 - matmul(x, x, {.transpose_b = true}));
  const Value same = cast(equal(reshape(labels, {batch, 1}), reshape(labels, {1, batch})), dtype);
  Value positive = same;
  if (options.remove_diagonal) {
    Tensor others({batch, batch}, DType::float32);
    for (std::int64_t i = 0; i < batch * batch; ++i)
      others.mutable_data<float>()[i] = i % (batch + 1) == 0 ? 0.0F : 1.0F;
    positive = same * cast(others, dtype);
  }
  const Value negative = 1.0 - same;
  const double gamma = options.gamma, margin = options.margin;
  const Value pulled = relu((distance + margin) * positive) * (margin - distance) * -gamma;
  const Value pushed = relu((1 + margin - distance) * negative) * (1 - margin - distance) * gamma;
  // Log of the sum of exp over the pairs of one kind; a large negative number without such pairs.
  constexpr double lowest = -1e30;
  const auto log_sum = [&](const Value& scores, const Value& kind) {
    const Value chosen = where(equal(kind, 1.0), scores, lowest);
    const Value most = stop_gradient(max(chosen, {{1}, true}));
    return reshape(log(sum_over(exp(chosen - most) * kind, 1, true) + where(greater(most, lowest), 0.0, 1.0)) + most,
                   {batch});
  };
  return softplus(log_sum(pulled, positive) + log_sum(pushed, negative));
}

Value losses::Circle::mask(const Value&, const Value& values) const { return greater(values, 0.0); }

}  // namespace mezzo
