#pragma once
#include <memory>

#include <mezzo/distributed/communicator.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Mean of a float32 or float64 value of the running trace over the samples of all ranks: the sum of each rank's value
/// times its share, the runtime scalar sample_share. The step waits for it. The gradient is the mean of the cotangents,
/// each of the loss of its rank. All ranks must insert their means in one order.
Value mean_over_ranks(const std::shared_ptr<Communicator>& communicator, const Value& x);

}  // namespace mezzo::detail
