#pragma once
#include <mezzo/compiler/inference/frozen_constants.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {

/// Computes scales and shifts of channels in the matrix products and convolutions before or behind them: multiply, add
/// and subtract with constants, and batch norm with moving statistics. The kernels must be leaves of freeze(), or casts
/// of such, and nothing else may read the array between product and scale.
Graph fold_scales(const Graph& graph, FrozenConstants& constants);

}  // namespace mezzo::detail
