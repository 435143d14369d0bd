#include <mezzo/training/step/optimizer_weights.hpp>

#include <algorithm>

namespace mezzo::detail {

bool contains(const std::vector<Variable>& weights, const Variable& weight) {
  return std::any_of(weights.begin(), weights.end(), [&](const Variable& one) { return one.id() == weight.id(); });
}

bool trains(const OptimizerConfig& optimizer, const Variable& weight) {
  return optimizer.weights.empty() || contains(optimizer.weights, weight);
}

}  // namespace mezzo::detail
