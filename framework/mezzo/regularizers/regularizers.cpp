#include <mezzo/regularizers/regularizers.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

void require_factor(const char* kind, const char* option, double value) {
  if (std::isfinite(value) && value >= 0) return;
  fail<ValueError>(kind, "{} must be finite and not negative; got {}", option, value);
}

/// Rows of length 1. Rows of zeros stay zeros, with the gradient 0.
Value normalized(const Value& rows) {
  constexpr double least = 1e-14;  // Keras bounds the length by 1e-7
  const Value squares = sum(rows * rows, {.axes = {1}, .keepdims = true});
  return rows * rsqrt(maximum(squares, least));
}

}  // namespace

L1L2::L1L2(L1L2Options options) : options_(options) {
  require_factor("[L1L2]", "l1", options_.l1);
  require_factor("[L1L2]", "l2", options_.l2);
}

Value L1L2::call(const Value& x) const {
  check_not_moved();
  Value penalty;
  if (options_.l1 != 0) penalty = options_.l1 * sum(abs(x));
  if (options_.l2 != 0) {
    const Value squares = options_.l2 * sum(x * x);
    penalty = penalty.defined() ? penalty + squares : squares;
  }
  return penalty.defined() ? penalty : 0.0 * sum(x);
}

OrthogonalRegularizer::OrthogonalRegularizer(OrthogonalRegularizerOptions options) : options_(std::move(options)) {
  require_factor("[OrthogonalRegularizer]", "factor", options_.factor);
  if (options_.mode != "rows" && options_.mode != "columns") {
    fail_unknown("[OrthogonalRegularizer]", "mode", options_.mode, {"columns", "rows"});
  }
}

Value OrthogonalRegularizer::call(const Value& x) const {
  check_not_moved();
  if (x.shape().size() != 2) {
    fail<ShapeError>("[OrthogonalRegularizer]", "the weight must be a matrix; got shape {}", x.shape());
  }
  const Value rows = normalized(options_.mode == "rows" ? x : transpose(x));
  const std::int64_t count = rows.shape()[0];
  if (count < 2) return 0.0 * sum(x);
  Tensor others({count, count}, DType::float32);
  float* elements = others.mutable_data<float>();
  for (std::int64_t i = 0; i < count * count; ++i) elements[i] = i % (count + 1) == 0 ? 0.0F : 1.0F;
  const Value products = matmul(rows, rows, {.transpose_b = true}) * cast(Value(others), rows.dtype());
  const double pairs = static_cast<double>(count) * (static_cast<double>(count) - 1) / 2;
  return 0.5 * options_.factor / pairs * sum(abs(products));
}

}  // namespace mezzo
