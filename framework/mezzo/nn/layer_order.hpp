#pragma once
#include <vector>

#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// Layers of a functional model in the order in which Keras' Functional has them, and their weights: by the longest way
/// from a layer to an output, in calls, the longest first; layers of equal ways as they are reached depth first from
/// the outputs, first operands first.
std::vector<Shared<LayerState>> layer_order(const GraphLayout& layout);

}  // namespace mezzo::detail
