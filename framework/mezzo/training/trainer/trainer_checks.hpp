#pragma once
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::detail {

/// Options of a Trainer with those set that follow from others: max_epochs, fast_dev_run, barebones. A ValueError for
/// an option out of its range, or for options that exclude one another.
TrainerOptions checked(TrainerOptions options);

}  // namespace mezzo::detail
