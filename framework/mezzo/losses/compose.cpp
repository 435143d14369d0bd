#include <mezzo/losses/compose.hpp>

#include <numeric>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

std::int64_t normalized_axis(const std::string& name, const Value& x, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(x.shape().size());
  if (axis < -rank || axis >= rank) {
    fail<ShapeError>("", "[{}] axis must be in [{}, {}); got {}", name, -rank, rank, axis);
  }
  return axis < 0 ? axis + rank : axis;
}

Value powered(const Value& x, double exponent) {
  constexpr int most = 4;
  for (int n = 1; n <= most; ++n) {
    if (exponent != n) continue;
    Value product = x;
    for (int i = 1; i < n; ++i) product = product * x;
    return product;
  }
  const Value zero = equal(x, 0.0);
  return where(zero, exponent == 0 ? 1.0 : 0.0, exp(log(where(zero, 1.0, x)) * exponent));
}

Value divide_no_nan(const Value& a, const Value& b) {
  const Value zero = equal(b, 0.0);
  return where(zero, 0.0, a / where(zero, 1.0, b));
}

Value one_hot_of_largest(const Value& x, std::int64_t axis) {
  const std::int64_t at = normalized_axis("argmax", x, axis);
  const Value vectors = one_hot_of(argmax(x, at), x.shape()[static_cast<std::size_t>(at)], x.dtype());
  // The new last axis goes to `at`.
  Shape order(x.shape().size() - 1);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + at, static_cast<std::int64_t>(order.size()));
  return transpose(vectors, order);
}

Value one_hot_of(const Value& labels, std::int64_t classes, DType dtype) {
  Tensor numbers({classes}, DType::int64);
  std::iota(numbers.mutable_data<std::int64_t>(), numbers.mutable_data<std::int64_t>() + classes, std::int64_t{0});
  Shape shape = labels.shape();
  shape.push_back(1);
  return cast(equal(reshape(cast(labels, DType::int64), shape), Value(numbers)), dtype).across_border(false);
}

Value largest(const Value& x, std::int64_t axis) {
  const Value chosen = equal(one_hot_of_largest(x, axis), 1.0);
  return sum_over(where(chosen, x, 0.0), axis, true);
}

Value log_softmax_of(const Value& x, std::int64_t axis) {
  const Value shifted = x - stop_gradient(largest(x, axis));
  return shifted - log(sum_over(exp(shifted), axis, true));
}

Value unit(const Value& x, std::int64_t axis) {
  const Value norm = root(sum_over(squared(x), axis, true));
  return x / larger(norm, epsilon);
}

Value signed_labels(const Value& y_true) {
  // 0 only if the label is 0 or 1.
  const Value distance = abs(y_true * (y_true - 1.0));
  return where(equal(sum(distance), 0.0), 2.0 * y_true - 1.0, y_true);
}

}  // namespace mezzo::detail
