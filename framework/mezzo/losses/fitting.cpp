#include <mezzo/losses/fitting.hpp>

#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>

namespace mezzo {

Value detail::FittingCrossentropy::call(const Value& y_true, const Value& y_pred) const {
  const Shape &t = y_true.shape(), &p = y_pred.shape();
  if (p.empty() || p.back() == 1) return binary_crossentropy(y_true, y_pred);
  if (t.size() < p.size() || t.back() == 1) return sparse_categorical_crossentropy(y_true, y_pred);
  return categorical_crossentropy(y_true, y_pred);
}

}  // namespace mezzo
