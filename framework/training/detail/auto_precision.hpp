#pragma once
#include <string>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/training/detail/step_runner.hpp>

namespace mezzo::detail {

/// Precision "auto": the fastest of float32, mixed_bfloat16 and mixed_float16 for this module on this machine, by a few
/// steps of training under each, whose losses must agree with float32's. Weights are as before afterwards; optimizers
/// are left without state. Writes a line that says why.
Policy choose_policy(Module& module, const DataLoader& loader, const RunOptions& run);

/// What to say of a policy with these rates of products beside float32's; nothing if they aren't a tenth slower.
std::string slowness(const Policy& policy, const ProductRates& float32, const ProductRates& other);

/// Warns, once in a process for each dtype, if that policy's products run slower than float32's here; not if the
/// environment's MEZZO_WARN_SLOW_POLICY is 0.
void warn_if_slow(const Policy& policy);

}  // namespace mezzo::detail
