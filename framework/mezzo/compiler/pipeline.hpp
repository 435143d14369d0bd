#pragma once
#include <unordered_set>

#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// @name The passes: Graph -> Graph
/// @{

/// Folds casts and reshapes that undo each other, merges equal nodes, removes unused nodes.
Graph simplify(const Graph& graph);

/// Moves bias and ReLU into the matmul or convolution before them.
Graph fuse_epilogues(const Graph& graph);

/// Moves ReLU or ReLU6, and a residual that is added before it, into the batch norm before them, in the forward and the
/// backward pass.
Graph fuse_batch_norm(const Graph& graph);

/// Fuses relu_gradient with the sums of its output over all axes except the last (the gradients of biases) into
/// relu_bias_gradient, so that the array is read once. Sums can differ from the unfused ones by rounding.
Graph fuse_bias_gradients(const Graph& graph);

/// Lets convolutions and their kernel gradients read the input of a batch norm with a ReLU in place of its output,
/// which they compute again while they read. The output is then not stored. Applied only if all of its readers have
/// such kernels.
Graph fuse_normalized_inputs(const Graph& graph);

/// Joins the gradient of a batch norm with a ReLU and the gradients of the 1 x 1 convolution whose output it
/// normalizes, where the array between them is large, so that it is not stored. Sums can differ from the unfused ones
/// by rounding.
Graph fuse_norm_gradients(const Graph& graph);

/// Computes outputs of batch norms again for the backward pass, from the norm's input and statistics, so that they are
/// not stored: those of 1 MiB and more of norms with a ReLU or ReLU6 in them, which also have a residual, or are read
/// by gradients of kernels with many operations or by no gradient of a kernel. Norms of a chain of residuals are
/// computed more than once, with few of them stored between, if the peak of live bytes falls by 2 % or more. Changes no
/// bit.
Graph recompute_norms(const Graph& graph);

/// Joins the gradients of the recurrent kernel and of the kernel of the inputs, which read the same cotangents, where
/// one kernel computes both. Changes no bit.
Graph fuse_recurrent_gradients(const Graph& graph);

/// Keeps only the gathered rows of the gradient of a table, if they are fewer than the rows of the table and only
/// optimizers read the gradient. Adds such rows in place to another gradient of the table. Results are bit-identical,
/// except that clipping by norm sums squares in another order, and for the sign of zeros in rows without an index.
Graph compact_gradients(const Graph& graph);

/// Fuses elementwise ops with results of one shape into chains, which kernels compute in one pass over the arrays. Each
/// result is rounded to its dtype as before, so that chains change no bit. Results that other nodes read stay outputs.
Graph fuse_elementwise(const Graph& graph);

/// Lets a matrix product read a float32 variable in place of its bfloat16 compute copy, if the product's kernel rounds
/// while it packs, the graph updates the variable, and nothing else reads the copy. Saves the copy and the time to
/// write it. Changes no bit.
Graph read_masters(const Graph& graph);

/// Lets the optimizer's kernels write the low-precision compute copies of the variables.
Graph fuse_compute_copies(const Graph& graph);

/// @}

/// Nodes that gather rows which only casts to bfloat16 read. simplify() lets those of split masters gather from the
/// high halves.
std::unordered_set<const detail::Node*> gathers_cast_to_bfloat16(const Graph& graph);

/// Passes to run; all by default.
struct PipelineOptions {
  bool fuse = true;  ///< false: simplify only
};

/// Runs all passes in order on a traced graph, and returns the graph from which a Plan is made.
Graph run_passes(Graph graph, const PipelineOptions& options = {});

}  // namespace mezzo
