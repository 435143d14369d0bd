#include <mezzo/metrics/accuracy.hpp>

#include <mezzo/metrics/binary_accuracy.hpp>
#include <mezzo/metrics/categorical_accuracy.hpp>
#include <mezzo/metrics/sparse_categorical_accuracy.hpp>

namespace mezzo {

Value accuracy(const Value& y_true, const Value& y_pred) {
  const Shape& t = y_true.shape();
  const Shape& p = y_pred.shape();
  if (p.size() < 2 || p.back() == 1) return binary_accuracy(y_true, y_pred);
  if (t.size() < p.size() || t.back() == 1) return sparse_categorical_accuracy(y_true, y_pred);
  return categorical_accuracy(y_true, y_pred);
}

}  // namespace mezzo
