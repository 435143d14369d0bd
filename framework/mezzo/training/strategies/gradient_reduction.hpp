#pragma once
#include <memory>

#include <mezzo/distributed/communicator.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {

/// Replaces values of the running trace by their means over the samples of all ranks: sums of rank r's times its
/// share, the runtime scalar sample_share. Sums are float32, or float64 for float64. Values are sent in buckets, which
/// run in the background between two nodes of the graph: a start and a finish. `after`: the last result of the
/// reduction before in the same step, or undefined; then the one of this reduction. All ranks must run them in one
/// order.
void reduce_over_ranks(const std::shared_ptr<Communicator>& communicator, Values& values, Value& after);

/// Moves the starts of reductions to where their values are ready, so that they run beside the rest of the backward
/// pass.
void place_reductions(Graph& graph);

}  // namespace mezzo::detail
