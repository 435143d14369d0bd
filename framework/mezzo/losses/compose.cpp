#include <mezzo/losses/compose.hpp>

namespace mezzo::detail {

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

Value unit(const Value& x, std::int64_t axis) {
  const Value norm = root(sum_over(square(x), axis, true));
  return x / maximum(norm, epsilon);
}

Value signed_labels(const Value& y_true) {
  // 0 only if the label is 0 or 1.
  const Value distance = abs(y_true * (y_true - 1.0));
  return where(equal(sum(distance), 0.0), 2.0 * y_true - 1.0, y_true);
}

}  // namespace mezzo::detail
