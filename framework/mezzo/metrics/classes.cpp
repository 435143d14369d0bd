#include <algorithm>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/losses/compose.hpp>
#include <mezzo/metrics/f_score.hpp>
#include <mezzo/metrics/host_numbers.hpp>
#include <mezzo/metrics/iou.hpp>
#include <mezzo/nn/sample_weights.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::metrics {

using namespace detail;

namespace {

std::vector<std::int64_t> all_classes(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(out.begin(), out.end(), std::int64_t{0});
  return out;
}

/// Classes as int64: numbers as they are, or the positions of the largest scores.
Value classes_of(const std::string& name, const Value& y, bool sparse, std::int64_t axis) {
  if (!sparse) return argmax(y, normalized_axis(name, y, axis));
  return cast(y, DType::int64);
}

}  // namespace

FBetaScore::FBetaScore(FBetaScoreOptions options) : Metric(options), options_(std::move(options)) {
  const char* const averages[] = {"none", "micro", "macro", "weighted"};
  if (std::none_of(std::begin(averages), std::end(averages),
                   [&](const char* valid) { return options_.average == valid; })) {
    fail<ValueError>("", "[{}] average must be one of {}; got \"{}\"", name(), fmt::join(averages, ", "),
                     options_.average);
  }
  if (!(options_.beta > 0)) fail<ValueError>("", "[{}] beta must be more than 0; got {}", name(), options_.beta);
  if (options_.threshold && !(*options_.threshold > 0 && *options_.threshold <= 1)) {
    fail<ValueError>("", "[{}] threshold must be in (0, 1]; got {}", name(), *options_.threshold);
  }
}

void FBetaScore::update(const Value& y_true, const Value& y_pred, const Value& sample_weight) {
  const detail::Targets targets = detail::same_shape_targets(name(), y_true, y_pred);
  const Shape& shape = targets.y_pred.shape();
  if (shape.size() != 2) fail<ShapeError>("", "[{}] y_pred must be (batch, classes); got {}", name(), shape);
  const Value& scores = targets.y_pred;
  Value chosen;
  if (options_.threshold) {
    chosen = cast(greater(scores, *options_.threshold), DType::float64);
  } else {
    const Value best = cast(equal(scores, max(scores, {{1}, true})), DType::float64);
    chosen = best * cast(greater(abs(scores), 1e-9), DType::float64);
  }
  const Value t = cast(targets.y_true, DType::float64);
  const bool micro = options_.average == "micro";
  const Shape state = micro ? Shape{} : Shape{shape[1]};
  const auto add = [&](Variable& variable, const Value& counts) {
    add_state(variable, state);
    const Value weighted = sample_weight.defined() ? counts * weight_like(name(), sample_weight, counts) : counts;
    assign(variable, variable + (micro ? sum(weighted) : sum_over(weighted, 0)));
  };
  add(tp_, chosen * t);
  add(fp_, chosen * (1.0 - t));
  add(fn_, (1.0 - chosen) * t);
  add(weights_, t);
}

Value FBetaScore::result() const {
  const auto of = [&](const Variable& variable) { return host_numbers(name(), variable); };
  const std::vector<double> tp = of(tp_), fp = of(fp_), fn = of(fn_), weights = of(weights_);
  const double square = options_.beta * options_.beta;
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> scores(tp.size());
  double mean = 0, weighted = 0;
  for (std::size_t i = 0; i < tp.size(); ++i) {
    const double precision = tp[i] / (tp[i] + fp[i] + epsilon), recall = tp[i] / (tp[i] + fn[i] + epsilon);
    scores[i] = precision * recall / (square * precision + recall + epsilon) * (1 + square);
    mean += scores[i] / static_cast<double>(tp.size());
    weighted += scores[i] * weights[i] / (all + epsilon);
  }
  if (options_.average == "none") return Tensor({static_cast<std::int64_t>(scores.size())}, scores);
  return Tensor::scalar(options_.average == "weighted" ? weighted : mean, DType::float64);
}

IoU::IoU(IoUOptions options) : Metric(options.name.empty() ? "io_u" : options.name), options_(std::move(options)) {
  keep_options(options_);
  const std::int64_t count = options_.num_classes;
  if (count < 1) fail<ValueError>("", "[{}] num_classes must be 1 or more; got {}", name(), count);
  if (options_.target_class_ids.empty()) fail<ValueError>("", "[{}] target_class_ids is required; got none", name());
  for (const std::int64_t id : options_.target_class_ids) {
    if (id < 0 || id >= count) {
      fail<ValueError>("", "[{}] target_class_ids must be in [0, {}); got {}", name(), count, id);
    }
  }
  add_state(matrix_, {count, count});
}

void IoU::update(const Value& y_true, const Value& y_pred, const Value& sample_weight) {
  const std::int64_t count = options_.num_classes;
  const Value t = reshape(classes_of(name(), y_true, options_.sparse_y_true, options_.axis), {-1});
  const Value p = reshape(classes_of(name(), y_pred, options_.sparse_y_pred, options_.axis), {-1});
  if (t.shape() != p.shape()) {
    fail<ShapeError>("", "[{}] y_true and y_pred must have the same number of elements; got {} and {}", name(),
                     y_true.shape(), y_pred.shape());
  }
  const auto inside = [&](const Value& x) {
    const Value wide = cast(x, DType::float64);
    return cast(greater(wide, -0.5), DType::float64) *
           cast(greater(static_cast<double>(count) - 0.5, wide), DType::float64);
  };
  Value valid = inside(t) * inside(p);
  if (options_.ignore_class) {
    valid = valid * (1.0 - cast(equal(t, *options_.ignore_class), DType::float64));
  }
  const Value counts = equal(valid, 1.0);
  const Value place = where(counts, t * count + p, 0);
  Value weight = valid;
  if (sample_weight.defined()) {
    const Value given = reshape(cast(sample_weight, DType::float64), {-1});
    if (given.shape() != t.shape()) {
      fail<ShapeError>("", "[{}] sample_weight must have a number for each element of y_true {}; got {}", name(),
                       y_true.shape(), sample_weight.shape());
    }
    weight = weight * given;
  }
  const Value sums =
      insert_one(ops::gather_gradient, {place, weight}, {{"shape", Shape{count * count}}, {"dtype", DType::float64}});
  assign(matrix_, matrix_ + reshape(sums, {count, count}));
}

Value IoU::result() const {
  const std::vector<double> matrix = host_numbers(name(), matrix_);
  const auto count = static_cast<std::size_t>(options_.num_classes);
  double sum = 0, valid = 0;
  for (const std::int64_t id : options_.target_class_ids) {
    const auto c = static_cast<std::size_t>(id);
    double united = -matrix[c * count + c];
    for (std::size_t i = 0; i < count; ++i) united += matrix[c * count + i] + matrix[i * count + c];
    if (!(united > 1e-9)) continue;
    sum += matrix[c * count + c] / (united + epsilon);
    ++valid;
  }
  return Tensor::scalar(sum / (valid + epsilon), DType::float64);
}

BinaryIoU::BinaryIoU(const BinaryIoUOptions& options)
    : IoU({.num_classes = 2, .target_class_ids = options.target_class_ids, .name = options.name}),
      threshold_(options.threshold) {
  keep_options(options);
}

void BinaryIoU::update(const Value& y_true, const Value& y_pred, const Value& sample_weight) {
  const Value below = greater(threshold_, y_pred);
  IoU::update(y_true, 1 - cast(below, DType::int64), sample_weight);
}

MeanIoU::MeanIoU(const MeanIoUOptions& options)
    : IoU({.num_classes = options.num_classes,
           .target_class_ids = all_classes(options.num_classes),
           .name = options.name,
           .ignore_class = options.ignore_class,
           .sparse_y_true = options.sparse_y_true,
           .sparse_y_pred = options.sparse_y_pred,
           .axis = options.axis}) {
  keep_options(options);
}

OneHotIoU::OneHotIoU(const OneHotIoUOptions& options)
    : IoU({.num_classes = options.num_classes,
           .target_class_ids = options.target_class_ids,
           .name = options.name,
           .ignore_class = options.ignore_class,
           .sparse_y_true = false,
           .sparse_y_pred = options.sparse_y_pred,
           .axis = options.axis}) {
  keep_options(options);
}

OneHotMeanIoU::OneHotMeanIoU(const OneHotMeanIoUOptions& options)
    : IoU({.num_classes = options.num_classes,
           .target_class_ids = all_classes(options.num_classes),
           .name = options.name,
           .ignore_class = options.ignore_class,
           .sparse_y_true = false,
           .sparse_y_pred = options.sparse_y_pred,
           .axis = options.axis}) {
  keep_options(options);
}

}  // namespace mezzo::metrics
