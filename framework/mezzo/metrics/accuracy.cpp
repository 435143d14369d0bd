#include <mezzo/metrics/accuracy.hpp>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/targets.hpp>
#include <mezzo/metrics/binary_accuracy.hpp>
#include <mezzo/metrics/categorical_accuracy.hpp>
#include <mezzo/metrics/sparse_categorical_accuracy.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

Value as_number(const Value& hits) { return cast(hits, DType::float32); }

}  // namespace

Value binary_accuracy(const Value& y_true, const Value& y_pred, const ThresholdOptions& options) {
  const detail::Targets targets = detail::same_shape_targets("binary_accuracy", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  const Value above = relu(sign(targets.y_pred - options.threshold));
  return as_number(equal(targets.y_true, above));
}

Value categorical_accuracy(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::same_shape_targets("categorical_accuracy", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return as_number(equal(argmax(targets.y_true), argmax(targets.y_pred)));
}

Value sparse_categorical_accuracy(const Value& y_true, const Value& y_pred) {
  const detail::Targets targets = detail::class_labels("sparse_categorical_accuracy", y_true, y_pred);
  const detail::LibraryScope as_inserted;
  return as_number(equal(targets.y_true, argmax(targets.y_pred)));
}

Value accuracy(const Value& y_true, const Value& y_pred) {
  const Shape& t = y_true.shape();
  const Shape& p = y_pred.shape();
  if (p.size() < 2 || p.back() == 1) return binary_accuracy(y_true, y_pred);
  if (t.size() < p.size() || t.back() == 1) return sparse_categorical_accuracy(y_true, y_pred);
  return categorical_accuracy(y_true, y_pred);
}

}  // namespace mezzo
