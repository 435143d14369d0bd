#pragma once
#include <cstddef>

#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// The most bytes of values that are live at one node of the graph: an estimate of the arena for passes that compare
/// graphs. Leaves out leaves, updates that write into variables, scratch memory, and results that overwrite operands.
std::size_t peak_of_live_bytes(const Graph& graph);

}  // namespace mezzo
