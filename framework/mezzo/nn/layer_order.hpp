#pragma once
#include <vector>

#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// Layers of a functional model, and their weights, in the order of Keras' Functional: by the number of calls on the
/// longest path from the layer to an output, the longest first. Layers with paths of equal length are in the order of a
/// depth-first search from the outputs, first operands first.
std::vector<Shared<LayerState>> layer_order(const GraphLayout& layout);

}  // namespace mezzo::detail
