#pragma once
#include <mezzo/training/step/run_options.hpp>
#include <mezzo/training/step/training_state.hpp>

namespace mezzo::detail {

/// Optimizers of configure_optimizers() with the weights of the groups, checked, for a next step that may be the last
/// of its epoch. A ValueError for none, an empty one, or one that contradicts the options; a NameError for equal names.
OptimizerConfigs make_optimizers(Module& module, const RunOptions& options, const std::vector<ParamGroup>& groups,
                                 bool last_of_epoch);

/// Makes `configs` the optimizers of a module. `reset` resets their state and all counters.
void use_optimizers(Module& module, const RunOptions& options, OptimizerConfigs configs, bool reset);

/// Sets the windows of accumulated gradients for the next training step. The last one of an epoch ends them.
void set_windows(const OptimizerConfigs& configs, const RunOptions& options, bool last_of_epoch);

/// Adds the weights of a group to those of its optimizer, unless that trains all. A NameError for an unknown optimizer.
void add_weights(OptimizerConfigs& configs, const ParamGroup& group);

}  // namespace mezzo::detail
