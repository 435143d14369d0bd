#include <mezzo/losses/crossentropy.hpp>

#include <limits>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/compose.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

using namespace detail;

namespace {

/// Cross-entropy of each element, of clipped probabilities.
Value binary_terms(const Value& y_true, const Value& y_pred) {
  const Value p = clip(y_pred, epsilon, 1 - epsilon);
  return -(y_true * log(p) + (1.0 - y_true) * log(1.0 - p));
}

/// Logits of 16-bit probabilities, if these are results of a sigmoid of the graph: 1 - p has only 8 or 11 bits, and is
/// 0 where the loss is large. Undefined otherwise. Skips casts, and reshapes to the shape of y_pred.
Value logits_of(const Value& y_pred) {
  Value p = y_pred;
  while (is(p, ops::cast) || is(p, ops::reshape) || is(p, ops::identity)) p = p.node()->inputs.front();
  if (!is(p, ops::sigmoid) || accumulation_dtype(p.dtype()) == p.dtype()) return {};
  const Value& logits = p.node()->inputs.front();
  return logits.shape() == y_pred.shape() ? logits : reshape(logits, y_pred.shape());
}

Value smoothed(const Value& y_true, double smoothing, double classes) {
  return smoothing == 0 ? y_true : y_true * (1 - smoothing) + smoothing / classes;
}

/// Probabilities of the classes, scaled to sum to 1 and clipped.
Value clipped_probabilities(const Value& y_pred, std::int64_t axis) {
  return clip(y_pred / sum_over(y_pred, axis, true), epsilon, 1 - epsilon);
}

}  // namespace

Value binary_crossentropy(const Value& y_true, const Value& y_pred, const BinaryCrossentropyFunctionOptions& options) {
  const detail::LibraryScope as_inserted;
  const Value logits = options.from_logits ? y_pred : logits_of(y_pred);
  const detail::Targets targets =
      detail::same_shape_targets("binary_crossentropy", y_true, logits.defined() ? logits : y_pred);
  const Value t = smoothed(targets.y_true, options.label_smoothing, 2);
  const Value& p = targets.y_pred;
  const Value each = logits.defined() ? softplus(p) - t * p : binary_terms(t, p);
  if (each.shape().size() < 2) return each;
  return mean_over(each, normalized_axis("binary_crossentropy", p, options.axis));
}

Value binary_focal_crossentropy(const Value& y_true, const Value& y_pred,
                                const BinaryFocalCrossentropyFunctionOptions& options) {
  const detail::LibraryScope as_inserted;
  const Value logits = options.from_logits ? Value() : logits_of(y_pred);
  const detail::Targets targets =
      detail::same_shape_targets("binary_focal_crossentropy", y_true, logits.defined() ? logits : y_pred);
  const Value t = smoothed(targets.y_true, options.label_smoothing, 2);
  const Value p = options.from_logits || logits.defined() ? sigmoid(targets.y_pred) : targets.y_pred;
  const Value right = t * p + (1.0 - t) * (1.0 - p);
  Value each = powered(1.0 - right, options.gamma) * binary_terms(t, p);
  if (options.apply_class_balancing) each = each * (t * options.alpha + (1.0 - t) * (1 - options.alpha));
  if (each.shape().size() < 2) return each;
  return mean_over(each, normalized_axis("binary_focal_crossentropy", p, options.axis));
}

Value categorical_crossentropy(const Value& y_true, const Value& y_pred,
                               const CategoricalCrossentropyFunctionOptions& options) {
  const detail::Targets targets = detail::same_shape_targets("categorical_crossentropy", y_true, y_pred);
  const std::int64_t axis = normalized_axis("categorical_crossentropy", targets.y_pred, options.axis);
  const detail::LibraryScope as_inserted;
  const Value& p = targets.y_pred;
  const Value t = smoothed(targets.y_true, options.label_smoothing, static_cast<double>(p.shape().back()));
  if (!options.from_logits) return -sum_over(t * log(clipped_probabilities(p, axis)), axis);
  // A class of probability 0 may have the logit -infinity: 0 log(0) is 0, and so are its gradients.
  const Value scores = log_softmax(p, axis);
  const Value impossible = logical_and(equal(t, 0), equal(scores, -std::numeric_limits<double>::infinity()));
  return -sum_over(t * where(impossible, 0.0, scores), axis);
}

Value categorical_focal_crossentropy(const Value& y_true, const Value& y_pred,
                                     const CategoricalFocalCrossentropyFunctionOptions& options) {
  const detail::Targets targets = detail::same_shape_targets("categorical_focal_crossentropy", y_true, y_pred);
  const std::int64_t axis = normalized_axis("categorical_focal_crossentropy", targets.y_pred, options.axis);
  const detail::LibraryScope as_inserted;
  const Value t = smoothed(targets.y_true, options.label_smoothing, static_cast<double>(targets.y_pred.shape().back()));
  const Value p = clipped_probabilities(options.from_logits ? softmax(targets.y_pred, axis) : targets.y_pred, axis);
  return sum_over(powered(1.0 - p, options.gamma) * options.alpha * t * -log(p), axis);
}

Value categorical_generalized_cross_entropy(const Value& y_true, const Value& y_pred,
                                            const CategoricalGeneralizedCrossEntropyFunctionOptions& options) {
  if (!(options.q > 0 && options.q < 1)) {
    fail<ValueError>("", "[categorical_generalized_cross_entropy] q must be between 0 and 1; got {}", options.q);
  }
  const detail::Targets targets = detail::class_labels("categorical_generalized_cross_entropy", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  const Value p = cast(targets.y_pred, accumulation_dtype(targets.y_pred.dtype())).across_border(false);
  const Value right = sum_over(p * one_hot(targets.y_true, p.shape().back(), -1, p.dtype()), -1);
  return (1.0 - powered(right, options.q)) / options.q;
}

Value sparse_categorical_crossentropy(const Value& y_true, const Value& y_pred, const CrossentropyOptions& options) {
  const char* const name = "sparse_categorical_crossentropy";
  const std::int64_t axis = normalized_axis(name, y_pred, options.axis);
  const detail::LibraryScope as_inserted;
  const bool last = axis + 1 == static_cast<std::int64_t>(y_pred.shape().size());
  const bool has_axis = !last && y_true.shape().size() == y_pred.shape().size();
  detail::Targets targets = detail::class_labels(name, has_axis ? moveaxis(y_true, axis, -1) : y_true,
                                                 last ? y_pred : moveaxis(y_pred, axis, -1));
  if (!options.ignore_class) return sparse_crossentropy(targets.y_true, targets.y_pred, options.from_logits);
  const Value ignored = equal(targets.y_true, *options.ignore_class);
  Shape column = targets.y_true.shape();
  column.push_back(1);
  // Without logits, scores of 0 would be divided by their sum.
  const double score = options.from_logits ? 0 : 1;
  const Value each = sparse_crossentropy(where(ignored, 0, targets.y_true),
                                         where(reshape(ignored, column), score, targets.y_pred), options.from_logits);
  return where(ignored, 0.0, each);
}

Value ctc(const Value& y_true, const Value& y_pred) {
  const Shape &labels = y_true.shape(), &logits = y_pred.shape();
  if (labels.size() != 2) fail<ShapeError>("", "[ctc] y_true must be (batch, labels); got {}", labels);
  if (logits.size() != 3 || logits[0] != labels[0]) {
    fail<ShapeError>("", "[ctc] y_pred must be (batch, frames, classes) with the batch of y_true {}; got {}", labels,
                     logits);
  }
  const detail::LibraryScope as_inserted;
  const Value target = is_floating(y_true.dtype()) ? cast(y_true, DType::int32) : y_true;
  const Value given = cast(not_equal(target, 0), DType::int32);
  const Value lengths = sum_over(given, -1);
  return ctc_loss(target.across_border(false), y_pred.across_border(false), lengths,
                  sum_over(given * 0, -1) + logits[1]);
}

Value losses::SparseCategoricalCrossentropy::mask(const Value& y_true, const Value& values) const {
  if (!options_.ignore_class) return {};
  const detail::LibraryScope as_inserted;
  const Value ignored = equal(reshape(y_true, values.shape()), *options_.ignore_class);
  return equal(cast(ignored, DType::float32), 0.0);
}

}  // namespace mezzo
