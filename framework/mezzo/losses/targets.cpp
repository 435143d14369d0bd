#include <mezzo/losses/targets.hpp>

#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

[[noreturn]] void fail_shapes(const std::string& name, const char* expected, const Value& y_true, const Value& y_pred) {
  fail<ShapeError>("", "[{}] {}; got y_true {} and y_pred {} (the arguments are y_true, y_pred)", name, expected,
                   y_true.shape(), y_pred.shape());
}

Value in_dtype(const Value& x, DType dtype) {
  return (x.dtype() == dtype && !x.weak() ? x : cast(x, dtype)).across_border(false);
}

Shape without_last(const Shape& shape) { return Shape(shape.begin(), shape.end() - 1); }

/// True if `longer` is `shorter` with another axis of size 1 at the end.
bool has_extra_one(const Shape& longer, const Shape& shorter) {
  return !longer.empty() && longer.back() == 1 && without_last(longer) == shorter;
}

void require_float_predictions(const std::string& name, const Value& y_pred) {
  if (is_floating(y_pred.dtype())) return;
  fail<DTypeError>("", "[{}] y_pred must be floating; got {} (the arguments are y_true, y_pred)", name, y_pred.dtype());
}

}  // namespace

detail::Targets detail::same_shape_targets(const std::string& name, const Value& y_true, const Value& y_pred) {
  require_float_predictions(name, y_pred);
  const DType dtype = accumulation_dtype(y_pred.dtype());
  Value t = in_dtype(y_true, dtype);
  Value p = in_dtype(y_pred, dtype);
  if (has_extra_one(t.shape(), p.shape())) t = reshape(t, p.shape());
  if (has_extra_one(p.shape(), t.shape())) p = reshape(p, t.shape());
  if (t.shape() != p.shape()) fail_shapes(name, "y_true and y_pred must have the same shape", y_true, y_pred);
  return {.y_true = t, .y_pred = p};
}

detail::Targets detail::class_labels(const std::string& name, const Value& given, const Value& y_pred) {
  const Value y_true = detail::as_labels(given);
  const Shape& scores = y_pred.shape();
  const bool column = y_true.shape().size() == scores.size() && !scores.empty() && y_true.shape().back() == 1;
  const Shape labels = column ? without_last(y_true.shape()) : y_true.shape();
  if (scores.empty() || labels != without_last(scores)) {
    fail_shapes(name, "y_true must have the shape of y_pred without its last axis, the classes", y_true, y_pred);
  }
  require_float_predictions(name, y_pred);
  if (is_floating(y_true.dtype()) || y_true.dtype() == DType::boolean) {
    fail<DTypeError>("", "[{}] y_true must be integer labels; got {}", name, y_true.dtype());
  }
  return {.y_true = (column ? reshape(y_true, labels) : y_true).across_border(false),
          .y_pred = y_pred.across_border(false)};
}

Value detail::per_sample(const Value& x) {
  if (x.shape().size() < 2) return x;
  Shape axes(x.shape().size() - 1);
  std::iota(axes.begin(), axes.end(), 1);
  const detail::LibraryScope as_inserted;
  return mean(x, {.axes = axes});
}

}  // namespace mezzo
