#include <mezzo/nn/sample_weights.hpp>

#include <algorithm>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

/// Mean over the axes from `first` on.
Value mean_from(const Value& x, std::size_t first) {
  if (x.shape().size() <= first) return x;
  Shape axes(x.shape().size() - first);
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(first));
  return mean(x, {.axes = axes});
}

/// Drops a last axis of size 1 that the values don't have. A ShapeError unless the rest are the first axes of values.
Value fitting(const std::string& name, const Value& weight, const Shape& values, const char* what = "sample_weight") {
  Shape shape = weight.shape();
  const auto is_prefix = [&] {
    return shape.size() <= values.size() && std::equal(shape.begin(), shape.end(), values.begin());
  };
  if (!is_prefix() && !shape.empty() && shape.back() == 1) shape.pop_back();
  if (!is_prefix()) {
    fail<ShapeError>("", "[{}] {} must have the first axes of the values, {}; got shape {}", name, what, values,
                     weight.shape());
  }
  return shape == weight.shape() ? weight : reshape(weight, shape);
}

/// Adds axes of size 1 at the end.
Value of_rank(const Value& x, std::size_t rank) {
  Shape shape = x.shape();
  if (shape.size() >= rank) return x;
  shape.resize(rank, 1);
  return reshape(x, shape);
}

Value as_dtype(const Value& x, DType dtype) {
  return (x.dtype() == dtype && !x.weak() ? x : cast(x, dtype)).across_border(false);
}

}  // namespace

Value weight_like(const std::string& name, const Value& weight, const Value& values) {
  const LibraryScope as_inserted;
  return as_dtype(of_rank(fitting(name, weight, values.shape()), values.shape().size()), values.dtype());
}

Value mask_of(const std::string& name, const Value& of_pred, const Value& of_values, const Value& values) {
  if (!of_pred.defined() || values.shape().empty()) return of_values;
  const LibraryScope as_inserted;
  const Value mask = of_rank(fitting(name, of_pred, values.shape(), "the mask of y_pred"), values.shape().size());
  return of_values.defined() ? logical_and(mask, of_values) : mask;
}

Value masked_weight(const Value& weight, const Value& mask) {
  if (!mask.defined()) return weight;
  const LibraryScope as_inserted;
  const Value factor = as_dtype(mask, DType::float64);
  if (!weight.defined()) return factor;
  const std::size_t rank = std::max(weight.shape().size(), mask.shape().size());
  return as_dtype(of_rank(weight, rank), DType::float64) * of_rank(factor, rank);
}

std::pair<Value, Value> samplewise(const std::string& name, const Value& values, const Value& weight) {
  const LibraryScope as_inserted;
  Value out = as_dtype(values, DType::float64);
  if (!weight.defined()) return {mean_from(out, 1), Value()};
  Value fitted = as_dtype(fitting(name, weight, out.shape()), DType::float64);
  out = mean_from(out, fitted.shape().size()) * fitted;
  return {mean_from(out, 1), mean_from(fitted, 1)};
}

}  // namespace mezzo::detail
