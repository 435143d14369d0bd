#pragma once
#include <mezzo/training/step/process_group.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::detail {

/// Compares the version of mezzo and the options of a Trainer that affect steps and numbers, including those from the
/// environment. Errors are those of ProcessGroup::require_equal().
void compare_options(const ProcessGroup& group, const TrainerOptions& options);

}  // namespace mezzo::detail
