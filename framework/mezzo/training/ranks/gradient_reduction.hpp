#pragma once
#include <memory>
#include <vector>

#include <mezzo/distributed/communicator.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/ranks/gradient_bucket.hpp>

namespace mezzo::detail {

/// A value of each rank that is summed over the ranks.
struct Reduced {
  Value value;           ///< of this rank; becomes that of all ranks
  Value factor{};        ///< of the value: float64 (); undefined: 1
  Value sum{};           ///< that is added, float32 or float64: the result has its dtype; undefined: none
  bool weighted = true;  ///< multiplied by the rank's share of the samples (the runtime scalar sample_share)
  GradientFeedback::Errors errors{};  ///< of the value, which is sent in bfloat16, for all values; null: for none
  int owner = -1;  ///< rank that gets the result, undefined elsewhere; -1: all, for all values or none
};

/// Replaces values of the running trace by sums over the ranks: sum over r of (value * factor * share + sum) of rank r.
/// Sums are float32, or float64 for float64. Values are sent in buckets, which run in the background between two nodes
/// of the graph: a start and a finish. `after`: on entry the last result of the previous reduction in the same step, or
/// undefined; on return the last result of this reduction. All ranks must run them in one order.
void reduce_over_ranks(const std::shared_ptr<Communicator>& communicator, std::vector<Reduced>& values, Value& after);

/// Moves the starts of reductions to where their values are ready, so that they run beside the rest of the backward
/// pass.
void place_reductions(Graph& graph);

/// Buckets of the reductions, in the order of their starts.
std::vector<std::shared_ptr<const GradientBucket>> buckets_in(const Graph& graph);

}  // namespace mezzo::detail
