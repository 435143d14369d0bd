#pragma once
#include <mezzo/distributed/communicator.hpp>

namespace mezzo::detail {

/// Threads of this rank if the ranks that may run on the same processors share them, 1 or more. All ranks call it.
int threads_of_rank(Communicator& ranks);

}  // namespace mezzo::detail
