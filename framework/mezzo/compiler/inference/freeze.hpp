#pragma once
#include <mezzo/compiler/inference/frozen_constants.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {

/// Makes a graph of an inference trace that computes with the present numbers of the variables: leaves of variables
/// become constants, nodes of constants alone are computed, scales and shifts of channels (batch norm among them) go
/// into the kernels and biases of the products beside them. Nodes that change nothing are dropped. Graphs that are
/// frozen with the same `constants` share memory, and variables keep the numbers that they had at the first of them.
/// run_passes() of the result gives the graph of a Plan. The traced graph must have no updates: a ValueError otherwise.
MEZZO_API Graph freeze(const Graph& traced, FrozenConstants& constants);

}  // namespace mezzo::detail
