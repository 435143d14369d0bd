#pragma once
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/step/process_group.hpp>

namespace mezzo::detail {

/// Copies the results of callbacks whose hooks ran only in the process that writes to their copies in the other
/// processes, by their order. Communicates.
void share_results(const ProcessGroup& group, const Callbacks& callbacks);

}  // namespace mezzo::detail
