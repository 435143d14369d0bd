#pragma once
#include <mezzo/training/module/saved_hyperparameters.hpp>

namespace mezzo::detail {

/// Reads the hyperparameters of checkpoints and of model files with a training.
HyperparameterReader checkpoint_hyperparameters();

}  // namespace mezzo::detail
