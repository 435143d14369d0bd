#pragma once
#include <cstdint>

#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// True if a weight of the layer itself is read in more bits than its policy stores: results are cast to the output
/// dtype.
bool has_wide_state(const LayerState& state);

/// policy_version of a weight that is made here. If a layer's policy sets the dtype it is an older version, because
/// other models that share the weight may change the dtype.
std::uint32_t version_of_dtype();

}  // namespace mezzo::detail
