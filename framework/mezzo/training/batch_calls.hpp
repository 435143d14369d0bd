#pragma once
#include <vector>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/step_runner.hpp>

namespace mezzo::detail {

/// Outputs for all samples, concatenated along axis 0: one tensor for each output of predict_step.
std::vector<Tensor> predict_all(Module& module, const DataLoader& loader, const RunOptions& run);

/// The same for a module with one output. A ValueError if it has several.
Tensor predict(Module& module, const DataLoader& loader, const RunOptions& run);

/// Runs one training or validation step. Metrics start anew.
Logs run_batch(Module& module, Phase phase, const HostBatch& batch, const RunOptions& run);

}  // namespace mezzo::detail
