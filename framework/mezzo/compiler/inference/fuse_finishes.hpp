#pragma once
#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {

/// Moves a residual, and a ReLU with or without an upper limit, into the products with constant kernels before them, if
/// these have a kernel that computes all of it in one pass over the output.
Graph fuse_finishes(const Graph& graph);

}  // namespace mezzo::detail
