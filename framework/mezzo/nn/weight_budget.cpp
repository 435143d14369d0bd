#include <mezzo/nn/weight_budget.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void LayerWeightBudget::take(const Shape& shape, const std::string& where) {
  // Divides, since the product of the sizes may overflow.
  std::int64_t left = left_;
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (const std::int64_t size : shape) {
    if (!empty) left /= size;
  }
  if (!empty && left == 0) {
    fail<ValueError>(where, "the file must have the numbers of every weight; a weight of shape {} is more than is left",
                     shape);
  }
  left_ -= element_count(shape);
}

}  // namespace mezzo::detail
