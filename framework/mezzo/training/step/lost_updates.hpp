#pragma once
#include <mezzo/compiler/update_count.hpp>
#include <mezzo/training/step/notices.hpp>

namespace mezzo::detail {

/// Warns, once for each model, if rounding has lost more than half of the updates of an epoch.
void warn_of_lost_updates(Notices& notices, const UpdateCount& updates, int epoch);

}  // namespace mezzo::detail
