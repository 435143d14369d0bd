#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/compose.hpp>
#include <mezzo/metrics/host_numbers.hpp>
#include <mezzo/metrics/reduction.hpp>
#include <mezzo/metrics/regression.hpp>
#include <mezzo/metrics/top_k.hpp>
#include <mezzo/nn/sample_weights.hpp>

namespace mezzo {

using namespace detail;

Value pearson_correlation(const Value& y_true, const Value& y_pred, std::int64_t axis) {
  const detail::Targets targets = detail::same_shape_targets("pearson_correlation", y_true, y_pred);
  const std::int64_t at = normalized_axis("pearson_correlation", targets.y_pred, axis);
  const detail::LibraryScope as_inserted;
  const auto centered = [&](const Value& x) { return x - mean(x, {.axes = {at}, .keepdims = true}); };
  const Value t = centered(targets.y_true), p = centered(targets.y_pred);
  return sum_over(t * p, at) / (root(sum_over(square(t), at)) * root(sum_over(square(p), at)));
}

Value concordance_correlation(const Value& y_true, const Value& y_pred, std::int64_t axis) {
  const detail::Targets targets = detail::same_shape_targets("concordance_correlation", y_true, y_pred);
  const std::int64_t at = normalized_axis("concordance_correlation", targets.y_pred, axis);
  const detail::LibraryScope as_inserted;
  const Value &t = targets.y_true, &p = targets.y_pred;
  const auto mean_of = [&](const Value& x) { return mean(x, {.axes = {at}, .keepdims = true}); };
  const Value t_mean = mean_of(t), p_mean = mean_of(p);
  const Value norm = mean_of(square(t - t_mean)) + mean_of(square(p - p_mean)) + square(t_mean - p_mean);
  return mean_over((t - p_mean) * (p - p_mean) * 2.0 / (norm + epsilon), at);
}

namespace {

void require_count(std::int64_t k) {
  if (k < 1) fail<ValueError>("", "[top_k_categorical_accuracy] k must be 1 or more; got {}", k);
}

/// 1 where fewer than k scores are larger than that of the label.
Value within_best(const Value& labels, const Value& scores, std::int64_t k) {
  require_count(k);
  const Value within = in_top_k(reshape(labels, {-1}), reshape(scores, {-1, scores.shape().back()}), k);
  return cast(reshape(within, labels.shape()), DType::float32);
}

/// 1 where the label is one of the first k classes of the last axis.
Value among_first(const Value& y_true, const Value& ids, std::int64_t k) {
  require_count(k);
  const Shape& shape = ids.shape();
  const bool column = y_true.shape().size() == shape.size() && !shape.empty() && y_true.shape().back() == 1;
  Shape labels = y_true.shape();
  if (!column) labels.push_back(1);
  if (shape.empty() || Shape(labels.begin(), labels.end() - 1) != Shape(shape.begin(), shape.end() - 1)) {
    fail<ShapeError>("",
                     "[sparse_top_k_categorical_accuracy] y_true must have the shape of y_pred without its last axis, "
                     "the sorted classes; got y_true {} and y_pred {} (the arguments are y_true, y_pred)",
                     y_true.shape(), shape);
  }
  const detail::LibraryScope as_inserted;
  SliceOptions box{.starts = Shape(shape.size(), 0), .sizes = shape};
  box.sizes.back() = std::min(k, shape.back());
  const Value first = cast(slice(ids, box), DType::int64);
  return cast(any(equal(reshape(cast(y_true, DType::int64), labels), first), {.axes = {-1}}), DType::float32);
}

}  // namespace

Value top_k_categorical_accuracy(const Value& y_true, const Value& y_pred, std::int64_t k) {
  const detail::Targets targets = detail::same_shape_targets("top_k_categorical_accuracy", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return within_best(argmax(targets.y_true), targets.y_pred, k);
}

Value sparse_top_k_categorical_accuracy(const Value& y_true, const Value& y_pred, std::int64_t k,
                                        bool from_sorted_ids) {
  if (from_sorted_ids) return among_first(y_true, y_pred, k);
  const detail::Targets targets = detail::class_labels("sparse_top_k_categorical_accuracy", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return within_best(targets.y_true, targets.y_pred, k);
}

namespace metrics {

Value Accuracy::call(const Value& y_true, const Value& y_pred) const {
  const detail::LibraryScope as_inserted;
  if (!is_floating(y_pred.dtype())) {
    if (y_true.shape() != y_pred.shape()) {
      fail<ShapeError>("", "[{}] y_true and y_pred must have the same shape; got {} and {}", name(), y_true.shape(),
                       y_pred.shape());
    }
    return cast(equal(y_true, y_pred), DType::float32);
  }
  const detail::Targets targets = detail::same_shape_targets(name(), y_true, y_pred);
  return cast(equal(targets.y_true, targets.y_pred), DType::float32);
}

void Mean::update_state(const Value& values, const Value& sample_weight) {
  Metric::update_state(values, Value(), sample_weight);
}

void Mean::update(const Value& values, const Value& none, const Value& sample_weight) {
  if (none.defined()) fail<ValueError>("", "[{}] takes values, not y_true and y_pred; got both", name());
  add_values(values, sample_weight);
}

Sum::Sum(const SumOptions& options) : Metric(options) { add_state(total_, {}); }

void Sum::update_state(const Value& values, const Value& sample_weight) {
  Metric::update_state(values, Value(), sample_weight);
}

void Sum::update(const Value& values, const Value& none, const Value& sample_weight) {
  if (none.defined()) fail<ValueError>("", "[{}] takes values, not y_true and y_pred; got both", name());
  const Value wide = cast(values, DType::float64);
  assign(total_, total_ + sum(sample_weight.defined() ? wide * weight_like(name(), sample_weight, wide) : wide));
}

MeanMetricWrapper::MeanMetricWrapper(Function function, MeanMetricWrapperOptions options)
    : Metric(std::move(options.name)), function_(std::move(function)) {
  if (!function_) fail<ValueError>("", "[{}] the function must not be empty; got an empty one", name());
}

Value CosineSimilarity::call(const Value& y_true, const Value& y_pred) const {
  return -cosine_similarity(y_true, y_pred, {axis_});
}

Value RootMeanSquaredError::call(const Value& y_true, const Value& y_pred) const {
  const detail::Targets targets = detail::same_shape_targets(name(), y_true, y_pred);
  return square(targets.y_pred - targets.y_true);
}

Value RootMeanSquaredError::result() const { return root(Metric::result()); }

R2Score::R2Score(R2ScoreOptions options) : Metric(options), options_(std::move(options)) {
  const std::string& how = options_.class_aggregation;
  if (how != "uniform_average" && how != "variance_weighted_average" && how != "none") {
    fail<ValueError>("",
                     "[{}] class_aggregation must be uniform_average, variance_weighted_average or none; got \"{}\"",
                     name(), how);
  }
  if (options_.num_regressors < 0) {
    fail<ValueError>("", "[{}] num_regressors must be 0 or more; got {}", name(), options_.num_regressors);
  }
}

void R2Score::update(const Value& y_true, const Value& y_pred, const Value& sample_weight) {
  const detail::Targets targets = detail::same_shape_targets(name(), y_true, y_pred);
  const Shape& shape = targets.y_pred.shape();
  if (shape.size() != 2) fail<ShapeError>("", "[{}] y_pred must be (batch, outputs); got {}", name(), shape);
  const std::int64_t outputs = shape[1];
  for (Variable* const variable : {&sum_, &squared_sum_, &residual_, &count_}) add_state(*variable, {outputs});
  add_state(samples_, {});
  const Value t = cast(targets.y_true, DType::float64), p = cast(targets.y_pred, DType::float64);
  const Value one = Tensor::scalar(1, DType::float64);
  const Value weight = broadcast_to(sample_weight.defined() ? weight_like(name(), sample_weight, t) : one, shape);
  const auto add = [&](const Variable& variable, const Value& x) { assign(variable, variable + sum_over(x, 0)); };
  add(sum_, t * weight);
  add(squared_sum_, t * t * weight);
  add(residual_, square(t - p) * weight);
  add(count_, weight);
  assign(samples_, samples_ + static_cast<double>(shape[0] * outputs));
}

Value R2Score::result() const {
  const auto of = [&](const Variable& variable) { return host_numbers(name(), variable); };
  const std::vector<double> sums = of(sum_), squares = of(squared_sum_), residuals = of(residual_), counts = of(count_);
  std::vector<double> scores(sums.size());
  double mean = 0, weighted = 0, variance = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double total = squares[i] - sums[i] * (sums[i] / counts[i]);
    scores[i] = 1 - residuals[i] / total;
    if (std::isinf(scores[i])) scores[i] = 0;
    mean += scores[i] / static_cast<double>(sums.size());
    weighted += total * scores[i];
    variance += total;
  }
  if (options_.class_aggregation == "uniform_average") scores = {mean};
  if (options_.class_aggregation == "variance_weighted_average") scores = {weighted / variance};
  const double n = of(samples_).front(), p = static_cast<double>(options_.num_regressors);
  for (double& score : scores) {
    // With fewer samples the score is not adjusted, as in Keras.
    if (p > 0 && p < n - 1) score = 1 - (1 - score) * (n - 1) / (n - p - 1);
  }
  if (scores.size() == 1 && options_.class_aggregation != "none") return Tensor::scalar(scores[0], DType::float64);
  return Tensor({static_cast<std::int64_t>(scores.size())}, scores);
}

}  // namespace metrics

}  // namespace mezzo
