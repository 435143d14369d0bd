#pragma once
#include <string>

#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// Start of errors about a layer: `[Dense "fc"]`, `[Dense]` without a name.
std::string label_of(const LayerState& layer);

}  // namespace mezzo::detail
