#include <mezzo/metrics/at.hpp>
#include <mezzo/metrics/confusion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/losses/compose.hpp>
#include <mezzo/metrics/host_numbers.hpp>
#include <mezzo/nn/sample_weights.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::metrics {

using namespace detail;

namespace {

constexpr double lowest_score = -1e10;  // of predictions outside of the k best

std::string name_or(const std::string& name, const char* otherwise) { return name.empty() ? otherwise : name; }

std::vector<double> or_half(const detail::Thresholds& given, const std::string& name) {
  for (const double threshold : given.values()) {
    if (!(threshold >= 0 && threshold <= 1)) {
      fail<ValueError>("", "[{}] thresholds must be in [0, 1]; got {}", name, threshold);
    }
  }
  return given.values().empty() ? std::vector<double>{0.5} : given.values();
}

/// n thresholds from 0 to 1, ends included.
std::vector<double> even(std::int64_t n) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(static_cast<double>(i) / static_cast<double>(n - 1));
  return out;
}

/// 1 for the k largest elements of the last axis (among equal ones, the first), else 0.
Value largest_k(const Value& x, std::int64_t k) {
  const std::int64_t size = x.shape().back();
  return sum_over(one_hot(top_k(x, std::min(k, size)).indices, size, -1, x.dtype()), -2);
}

/// Largest of `values` where `at_least` reaches `least`; 0 if it never does.
Value best(const std::vector<double>& values, const std::vector<double>& at_least, double least) {
  double out = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (at_least[i] >= least) out = std::max(out, values[i]);
  }
  return Tensor::scalar(out, DType::float64);
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& rest) {
  std::vector<double> out;
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(ratio(a[i], a[i] + rest[i]));
  return out;
}

std::vector<double> thresholds_at(double least, std::int64_t count, const std::string& name) {
  if (!(least >= 0 && least <= 1)) fail<ValueError>("", "[{}] the bound must be in [0, 1]; got {}", name, least);
  if (count < 1) fail<ValueError>("", "[{}] num_thresholds must be 1 or more; got {}", name, count);
  return count == 1 ? std::vector<double>{0.5} : even(count);
}

}  // namespace

ThresholdMetric::ThresholdMetric(std::string name, Setup setup) : Metric(std::move(name)), setup_(std::move(setup)) {
  order_.resize(setup_.thresholds.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return setup_.thresholds[a] < setup_.thresholds[b]; });
  if (setup_.top_k < 0) fail<ValueError>("", "[{}] top_k must be 0 or more; got {}", this->name(), setup_.top_k);
  if (setup_.num_labels > 0) {
    const auto buckets = static_cast<std::int64_t>(setup_.thresholds.size()) + 1;
    add_state(positives_, {buckets, setup_.num_labels});
    add_state(negatives_, {buckets, setup_.num_labels});
  }
}

/// Number of thresholds below each prediction.
Value ThresholdMetric::bucket_of(const Value& y_pred) const {
  const auto count = static_cast<std::int64_t>(setup_.thresholds.size());
  if (!setup_.evenly) {
    Shape column = y_pred.shape();
    column.push_back(1);
    const Value thresholds = cast(Tensor({count}, setup_.thresholds), y_pred.dtype());
    return cast(sum_over(cast(greater(reshape(y_pred, column), thresholds), DType::float64), -1), DType::int64);
  }
  // Rounded up: a prediction that equals a threshold is not above it. NaN counts as 0.
  const Value place = fmin(fmax(y_pred, 0), 1) * static_cast<double>(count - 1);
  const Value whole = cast(cast(place, DType::int64), y_pred.dtype());
  const Value up = whole + cast(greater(place, whole), y_pred.dtype());
  const bool below_zero = setup_.thresholds.front() < 0;  // all predictions are above the first threshold
  return cast(below_zero ? maximum(up, 1.0) : up, DType::int64);
}

void ThresholdMetric::update(const Value& y_true, const Value& y_pred, const Value& sample_weight) {
  detail::Targets targets = detail::same_shape_targets(name(), y_true, y_pred);
  Value t = targets.y_true, p = targets.y_pred;
  if (setup_.from_logits) p = sigmoid(p);
  if (setup_.top_k > 0) {
    if (p.shape().size() < 2)
      fail<ShapeError>("", "[{}] top_k needs y_pred (batch, ..., classes); got {}", name(), p.shape());
    p = where(equal(largest_k(p, setup_.top_k), 1.0), p, lowest_score);
  }
  const bool has_labels = p.shape().size() >= 2;
  const std::int64_t last = has_labels ? static_cast<std::int64_t>(p.shape().back()) : 1;
  if (setup_.class_id) {
    if (!has_labels || *setup_.class_id < 0 || *setup_.class_id >= last) {
      fail<ShapeError>("", "[{}] class_id {} must be an index of the last axis; got y_pred {}", name(),
                       *setup_.class_id, p.shape());
    }
    SliceOptions box{.starts = Shape(p.shape().size(), 0), .sizes = p.shape()};
    box.starts.back() = *setup_.class_id;
    box.sizes.back() = 1;
    t = slice(t, box);
    p = slice(p, box);
  }
  if (setup_.multi_label && p.shape().size() != 2) {
    fail<ShapeError>("", "[{}] multi_label needs y_pred (batch, labels); got {}", name(), p.shape());
  }
  if (setup_.num_labels > 0 && p.shape().back() != setup_.num_labels) {
    fail<ShapeError>("", "[{}] y_pred must have {} labels (num_labels); got {}", name(), setup_.num_labels, p.shape());
  }
  const Value one = Tensor({1}, std::vector<double>{1});
  Value weight = broadcast_to(
      sample_weight.defined() ? cast(weight_like(name(), sample_weight, p), DType::float64) : one, p.shape());
  if (!setup_.label_weights.empty() && !setup_.multi_label) {
    if (static_cast<std::int64_t>(setup_.label_weights.size()) != p.shape().back()) {
      fail<ShapeError>("", "[{}] label_weights must be {} for y_pred {}; got {}", name(), p.shape().back(), p.shape(),
                       setup_.label_weights.size());
    }
    weight = weight * Tensor({p.shape().back()}, setup_.label_weights);
  }
  const std::int64_t labels = setup_.multi_label ? static_cast<std::int64_t>(p.shape().back()) : 1;
  const auto buckets = static_cast<std::int64_t>(setup_.thresholds.size()) + 1;
  add_state(positives_, {buckets, labels});
  add_state(negatives_, {buckets, labels});
  Value place = bucket_of(p) * labels;
  if (labels > 1) {
    Tensor numbers({labels}, DType::int64);
    std::iota(numbers.mutable_data<std::int64_t>(), numbers.mutable_data<std::int64_t>() + labels, std::int64_t{0});
    place = place + numbers;
  }
  place = reshape(place, {-1});
  const Value negative = cast(equal(t, 0.0), DType::float64);
  const auto histogram = [&](const Value& weights) {
    const Value sums = insert_one(ops::gather_gradient, {place, reshape(weights, {-1})},
                                  {{"shape", Shape{buckets * labels}}, {"dtype", DType::float64}});
    return reshape(sums, {buckets, labels});
  };
  assign(positives_, positives_ + histogram((1.0 - negative) * weight));
  assign(negatives_, negatives_ + histogram(negative * weight));
}

std::int64_t ThresholdMetric::labels() const { return positives_.filled() ? positives_.shape()[1] : 1; }

ThresholdMetric::Counts ThresholdMetric::counts(std::int64_t label) const {
  const std::size_t n = setup_.thresholds.size();
  const auto stride = static_cast<std::size_t>(labels()), first = static_cast<std::size_t>(label);
  const std::vector<double> positives = host_numbers(name(), positives_, n + 1);
  const std::vector<double> negatives = host_numbers(name(), negatives_, n + 1);
  Counts out{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  double tp = 0, fp = 0, all_positives = 0, all_negatives = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    all_positives += positives[i * stride + first];
    all_negatives += negatives[i * stride + first];
  }
  for (std::size_t i = n; i > 0; --i) {
    tp += positives[i * stride + first];
    fp += negatives[i * stride + first];
    const std::size_t at = order_[i - 1];
    out.tp[at] = tp;
    out.fp[at] = fp;
    out.fn[at] = all_positives - tp;
    out.tn[at] = all_negatives - fp;
  }
  return out;
}

Value ThresholdMetric::numbers(const std::vector<double>& values) {
  if (values.size() == 1) return Tensor::scalar(values.front(), DType::float64);
  return Tensor({static_cast<std::int64_t>(values.size())}, values);
}

TruePositives::TruePositives(const CountOptions& options)
    : ThresholdMetric(name_or(options.name, "true_positives"),
                      {.thresholds = or_half(options.thresholds, "true_positives")}) {
  keep_options(options);
}
FalsePositives::FalsePositives(const CountOptions& options)
    : ThresholdMetric(name_or(options.name, "false_positives"),
                      {.thresholds = or_half(options.thresholds, "false_positives")}) {
  keep_options(options);
}
TrueNegatives::TrueNegatives(const CountOptions& options)
    : ThresholdMetric(name_or(options.name, "true_negatives"),
                      {.thresholds = or_half(options.thresholds, "true_negatives")}) {
  keep_options(options);
}
FalseNegatives::FalseNegatives(const CountOptions& options)
    : ThresholdMetric(name_or(options.name, "false_negatives"),
                      {.thresholds = or_half(options.thresholds, "false_negatives")}) {
  keep_options(options);
}

namespace {

std::vector<double> precision_thresholds(const PrecisionOptions& options, const std::string& name) {
  if (options.top_k > 0 && options.thresholds.values().empty()) return {lowest_score};
  return or_half(options.thresholds, name);
}

}  // namespace

Precision::Precision(const PrecisionOptions& options)
    : ThresholdMetric(name_or(options.name, "precision"), {.thresholds = precision_thresholds(options, "precision"),
                                                           .top_k = options.top_k,
                                                           .class_id = options.class_id}) {
  keep_options(options);
}
Value Precision::result() const {
  const Counts all = counts();
  return numbers(ratios(all.tp, all.fp));
}

Recall::Recall(const RecallOptions& options)
    : ThresholdMetric(name_or(options.name, "recall"), {.thresholds = precision_thresholds(options, "recall"),
                                                        .top_k = options.top_k,
                                                        .class_id = options.class_id}) {
  keep_options(options);
}
Value Recall::result() const {
  const Counts all = counts();
  return numbers(ratios(all.tp, all.fn));
}

SensitivityAtSpecificity::SensitivityAtSpecificity(double specificity, const AtOptions& options)
    : ThresholdMetric(name_or(options.name, "sensitivity_at_specificity"),
                      {.thresholds = thresholds_at(specificity, options.num_thresholds, "sensitivity_at_specificity"),
                       .evenly = options.num_thresholds > 2,
                       .class_id = options.class_id}),
      least_(specificity) {
  keep_options(AtArguments{.least = specificity, .options = options});
}
Value SensitivityAtSpecificity::result() const {
  const Counts all = counts();
  return best(ratios(all.tp, all.fn), ratios(all.tn, all.fp), least_);
}

SpecificityAtSensitivity::SpecificityAtSensitivity(double sensitivity, const AtOptions& options)
    : ThresholdMetric(name_or(options.name, "specificity_at_sensitivity"),
                      {.thresholds = thresholds_at(sensitivity, options.num_thresholds, "specificity_at_sensitivity"),
                       .evenly = options.num_thresholds > 2,
                       .class_id = options.class_id}),
      least_(sensitivity) {
  keep_options(AtArguments{.least = sensitivity, .options = options});
}
Value SpecificityAtSensitivity::result() const {
  const Counts all = counts();
  return best(ratios(all.tn, all.fp), ratios(all.tp, all.fn), least_);
}

PrecisionAtRecall::PrecisionAtRecall(double recall, const AtOptions& options)
    : ThresholdMetric(name_or(options.name, "precision_at_recall"),
                      {.thresholds = thresholds_at(recall, options.num_thresholds, "precision_at_recall"),
                       .evenly = options.num_thresholds > 2,
                       .class_id = options.class_id}),
      least_(recall) {
  keep_options(AtArguments{.least = recall, .options = options});
}
Value PrecisionAtRecall::result() const {
  const Counts all = counts();
  return best(ratios(all.tp, all.fp), ratios(all.tp, all.fn), least_);
}

RecallAtPrecision::RecallAtPrecision(double precision, const AtOptions& options)
    : ThresholdMetric(name_or(options.name, "recall_at_precision"),
                      {.thresholds = thresholds_at(precision, options.num_thresholds, "recall_at_precision"),
                       .evenly = options.num_thresholds > 2,
                       .class_id = options.class_id}),
      least_(precision) {
  keep_options(AtArguments{.least = precision, .options = options});
}
Value RecallAtPrecision::result() const {
  const Counts all = counts();
  return best(ratios(all.tp, all.fn), ratios(all.tp, all.fp), least_);
}

}  // namespace mezzo::metrics
