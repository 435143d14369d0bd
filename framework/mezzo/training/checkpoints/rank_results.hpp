#pragma once
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo::detail {

/// Copies the results of callbacks whose hooks ran only at rank 0 to their copies at the other ranks, by their order.
/// No effect with `ranks` null. All ranks must call it.
void share_results(Communicator* ranks, const Callbacks& callbacks);

}  // namespace mezzo::detail
