#pragma once
#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/training/module/optimizer_config.hpp>

namespace mezzo::detail {

/// Full value of a variable: with split halves joined and the compensations of Kahan summation added.
Tensor whole_weight(const VariableState& variable, const OptimizerConfigs& optimizers);

/// Adds the states of a weight in an optimizer. `rounded`: the weight is stored in a narrower dtype.
void add_slots(const OptimizerConfig& config, const FileWeight& weight, bool rounded, NamedTensors& tensors);

/// Adds the counters of an optimizer, a learning rate that was set, and the loss scale.
void add_optimizer_numbers(const OptimizerConfig& config, Metadata& metadata);

}  // namespace mezzo::detail
