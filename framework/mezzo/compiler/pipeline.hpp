#pragma once
#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// @name The passes: Graph -> Graph, one file each
/// @{

/// Folds casts and reshapes that undo each other, shares equal subexpressions, drops what nothing needs.
Graph simplify(const Graph& graph);

/// Bias and activation into the matmul or convolution before them.
Graph fuse_epilogues(const Graph& graph);

/// ReLU, and the residual that is added before it, into the batch norm before them, both ways.
Graph fuse_batch_norm(const Graph& graph);

/// The sum of a ReLU's gradient, a bias' gradient, into the pass that makes it.
Graph fuse_bias_gradients(const Graph& graph);

/// Gradients of tables of which the step gathers few rows: only those rows, where optimizers alone read them. The same
/// numbers bit for bit, but that clipping by norm adds squares up in another order.
Graph compact_gradients(const Graph& graph);

/// Lets the optimizer's pass write the low-precision copies of the variables that the step computes with.
Graph fuse_compute_copies(const Graph& graph);

/// @}

/// Which passes run; all of them by default.
struct PipelineOptions {
  bool fuse = true;
};

/// All passes in their order, from what was traced (and differentiated while it was) to what a Plan is made of.
Graph run_passes(Graph graph, const PipelineOptions& options = {});

}  // namespace mezzo
