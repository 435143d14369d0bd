#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// Hash of everything about layers that a plan depends on: policies, trainable flags, identity and dtypes of weights.
std::uint64_t layers_signature(const LayerState& root);

/// A weight and the dtype in which the policy in force stores it.
struct Conversion {
  Shared<VariableState> weight;
  DType dtype;
  std::string path;       ///< of the weight
  bool of_layer = false;  ///< the policy is that of a layer: another model with the weight may have another one
};

/// Weights below a module whose dtype differs from the one of the policy in force: of a layer, a container, the Trainer
/// or set_dtype_policy(). Without a Trainer's policy, weights for which set_dtype_policy() decides are left out if
/// their dtype is not older than its last call, so that a Trainer's conversions last.
std::vector<Conversion> conversions(const Layer& root, const Policy& policy);

void convert_all(const std::vector<Conversion>& conversions);

/// Throws a ValueError if a Trainer's policy applies to no layer, or if an entry of its map matches none. The text
/// names the policies that override it.
void require_reach(const Layer& root, const Policy& policy);

}  // namespace mezzo::detail
