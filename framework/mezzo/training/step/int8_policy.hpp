#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/precision/policy.hpp>

namespace mezzo::detail {

/// Policy of precision "int8-mixed" for a model with weights: products of int8 in all layers except the first and the
/// last one with a matrix among its weights, in the order of the layers. `fast_bfloat16`: all compute in bfloat16, else
/// in float32. One policy if no layer is left out.
Policy int8_policy(const Layer& root, bool fast_bfloat16);

/// The policy that a precision means for a model on this machine: int8_policy() for a policy with products of int8 if
/// `int8_inside`, else the policy itself.
MEZZO_API Policy completed_policy(const Policy& policy, bool int8_inside, const Layer& root);

/// A policy of three dtypes without products of int8.
Policy without_int8(const Policy& policy);

}  // namespace mezzo::detail
