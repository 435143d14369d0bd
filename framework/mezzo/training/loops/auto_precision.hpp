#pragma once
#include <mezzo/data/loader.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// Resolves precision "auto": the fastest of float32, mixed_bfloat16 and mixed_float16 for this module on this machine;
/// with run.int8_inside also "int8-mixed", whose result is mixed_int8.
/// Trains for a few steps under each; the losses must agree with those of float32. Restores weights, optimizers and
/// counters. Writes one line with the choice and the measurements.
Policy choose_policy(Module& module, const DataLoader& loader, const RunOptions& run);

}  // namespace mezzo::detail
