#pragma once
#include <string>

#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::detail {

/// File of a `ckpt_path` of Trainer: a path, "" or one of the names "last" and "best". Without a last file it is "" for
/// the `verb` "fit", with a warning. For other verbs a ValueError names the missing file or callback.
std::string checkpoint_path(const std::string& ckpt_path, const TrainerOptions& options, const std::string& verb);

/// Path of a file in the folder of a Trainer's own checkpoints.
std::string own_checkpoint(const TrainerOptions& options, const char* file);

}  // namespace mezzo::detail
