#pragma once
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/distributed/communicator.hpp>

namespace mezzo::detail {

/// Parts of each output of a prediction, in the order of the ranks, at all ranks. `own` are the outputs of this rank's
/// part of the batch; `counts`: false if that part has no samples, and its outputs are left out.
std::vector<std::vector<Tensor>> gather_outputs(Communicator& communicator, const std::vector<Tensor>& own,
                                                bool counts);

}  // namespace mezzo::detail
