#pragma once
#include <string>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/precision/policy.hpp>

namespace mezzo::detail {

/// What to say of a policy with these rates of products beside float32's; nothing if they aren't a tenth slower.
std::string slowness(const Policy& policy, const ProductRates& float32, const ProductRates& other);

/// Warns, once in a process for each dtype, if that policy's products run slower than float32's here; not if the
/// environment's MEZZO_WARN_SLOW_POLICY is 0.
void warn_if_slow(const Policy& policy);

}  // namespace mezzo::detail
