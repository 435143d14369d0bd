#pragma once
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo::detail {

/// Copies paths and scores of the ModelCheckpoints of a call from rank 0, which alone runs their hooks, to those of the
/// other ranks, by their order. No effect with `ranks` null. All ranks must call it.
void share_checkpoints(Communicator* ranks, const Callbacks& callbacks);

}  // namespace mezzo::detail
