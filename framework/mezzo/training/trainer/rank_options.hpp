#pragma once
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::detail {

/// Compares the version of mezzo and the options of a Trainer that affect steps and numbers, including those from the
/// environment. A RankError names the first rank that differs, the option and both values.
void compare_options(Communicator& ranks, const TrainerOptions& options);

}  // namespace mezzo::detail
