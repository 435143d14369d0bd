#pragma once
#include <cstdint>

#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// True if a weight of the layer itself is read in more bits than its policy stores: results are cast to the output
/// dtype.
bool has_wide_state(const LayerState& state);

/// policy_version of a weight that is made here. An older one if a layer's policy sets the dtype, which does not last
/// in other models that share the weight.
std::uint32_t version_of_dtype();

}  // namespace mezzo::detail
