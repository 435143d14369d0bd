#pragma once
#include <memory>

#include <mezzo/distributed/communicator.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Replaces values of the running trace by their means over the samples of all ranks: sums of rank r's times its
/// share, the runtime scalar sample_share. One all_reduce in float32, or float64 if one of them is. `after`: a result
/// of the reduction before in the same step, or undefined: all ranks must run them in one order.
void reduce_over_ranks(const std::shared_ptr<Communicator>& communicator, Values& values, const Value& after);

}  // namespace mezzo::detail
