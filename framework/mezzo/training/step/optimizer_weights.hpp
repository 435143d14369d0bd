#pragma once
#include <vector>

#include <mezzo/training/module/optimizer_config.hpp>

namespace mezzo::detail {

/// True if a list has that weight.
bool contains(const std::vector<Variable>& weights, const Variable& weight);

/// True if a weight is among those of an optimizer. Its trainable flag is not considered.
bool trains(const OptimizerConfig& optimizer, const Variable& weight);

}  // namespace mezzo::detail
