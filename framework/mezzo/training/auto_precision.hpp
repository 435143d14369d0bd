#pragma once
#include <string>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/training/step_runner.hpp>

namespace mezzo::detail {

/// Resolves precision "auto": the fastest of float32, mixed_bfloat16 and mixed_float16 for this module on this machine.
/// Trains for a few steps under each; the losses must agree with those of float32. Restores weights, optimizers and
/// counters. Writes one line with the choice and the measurements.
Policy choose_policy(Module& module, const DataLoader& loader, const RunOptions& run);

/// Warns, once in a process for each dtype, if products under that policy run slower than in float32 on this machine.
/// The environment variable MEZZO_WARN_SLOW_POLICY=0 turns the measurement off.
void warn_if_slow(const Policy& policy);

/// Text of that warning for measured rates; "" if they are less than a tenth below those of float32.
std::string slowness(const Policy& policy, const ProductRates& float32, const ProductRates& other);

}  // namespace mezzo::detail
