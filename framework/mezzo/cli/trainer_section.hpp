#pragma once
#include <string>

#include <mezzo/cli/section.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::cli {

/// Section "trainer": options of Trainer, and completes it. Loggers and checkpoints are in `run_dir`. Errors are
/// UsageErrors and those of the options.
TrainerOptions read_trainer(Json& json, const std::string& run_dir);

/// Section "callbacks": a list of objects with class_name and config.
Callbacks read_callbacks(Json& json, const std::string& run_dir);

}  // namespace mezzo::cli
