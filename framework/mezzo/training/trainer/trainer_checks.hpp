#pragma once
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::detail {

/// Options of a Trainer, with derived ones set: max_epochs, fast_dev_run, barebones. A ValueError for an option out of
/// its range, or for options that exclude each other.
TrainerOptions checked(TrainerOptions options);

}  // namespace mezzo::detail
