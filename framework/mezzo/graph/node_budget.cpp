#include <mezzo/graph/node_budget.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

bool fits_config(const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size > max_config_axis) return false;
    if (size > 1) elements *= size;
    if (elements > max_config_sample) return false;
  }
  return true;
}

void NodeBudget::take(const std::vector<Spec>& outputs, const std::string& where) {
  NodeBudget* const budget = innermost();
  if (budget == nullptr) return;
  if (--budget->left_ < 0) {
    fail<ValueError>(where, "the model must have at most {} ops, by the size of its file; got more", budget->given_);
  }
  for (const Spec& output : outputs) {
    if (fits_config(output.shape)) continue;
    fail<ShapeError>(where, "sizes of outputs must be at most 2^31, and 2^40 elements; got shape {}", output.shape);
  }
}

}  // namespace mezzo::detail
