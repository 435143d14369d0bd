#pragma once
#include <mezzo/data/batch.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// Runs one training or validation step. Metrics are reset before it.
Logs run_batch(Module& module, Stage stage, const HostBatch& batch, const RunOptions& run);

}  // namespace mezzo::detail
