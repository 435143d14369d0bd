#pragma once
#include <mezzo/data/loader.hpp>
#include <mezzo/training/step_runner.hpp>

namespace mezzo::detail {

/// Precision "auto": the fastest of float32, mixed_bfloat16 and mixed_float16 for this module on this machine, by a few
/// steps of training under each, whose losses must agree with float32's. Weights, optimizers and counters are as before
/// afterwards. Writes a line that says why.
Policy choose_policy(Module& module, const DataLoader& loader, const RunOptions& run);

}  // namespace mezzo::detail
