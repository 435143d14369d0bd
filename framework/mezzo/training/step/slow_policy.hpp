#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// Smallest number of steps of a training for which warn_if_slow() measures; it takes a few per cent of them.
constexpr std::int64_t least_steps_to_measure = 200;

/// Warns, once for each model and policy, if a training step under the model's 16-bit policy takes longer than in
/// float32. Trains for a few steps under both and restores weights, optimizers and counters. Does nothing if the step
/// calls host() or print(), for a short training, and if the environment variable MEZZO_WARN_SLOW_POLICY is 0.
void warn_if_slow(Module& module, const DataLoader& train, const RunOptions& run, std::int64_t steps);

/// Text of that warning for the times of a step in seconds; "" if the policy is at most a tenth slower, and if a time
/// is none that the rounds agree on.
std::string slowness(const Policy& policy, std::optional<double> seconds, std::optional<double> float32_seconds);

}  // namespace mezzo::detail
