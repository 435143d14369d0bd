#include <mezzo/nn/weight_budget.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

struct WeightBudgetContext {
  LayerWeightBudget* innermost = nullptr;
};

LayerWeightBudget*& innermost() { return ExecutionContext::current().part<WeightBudgetContext>().innermost; }

}  // namespace

LayerWeightBudget::LayerWeightBudget(std::int64_t elements)
    : left_(elements), outer_(std::exchange(innermost(), this)) {}
LayerWeightBudget::~LayerWeightBudget() { innermost() = outer_; }

LayerWeightBudget* LayerWeightBudget::current() { return innermost(); }

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
