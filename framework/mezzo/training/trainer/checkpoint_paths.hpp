#pragma once
#include <cstdint>
#include <string>

#include <mezzo/training/module/history.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::detail {

/// File of a `ckpt_path` of Trainer: a path, "" or one of the names "last" and "best". Without a last file it is "" for
/// the `verb` "fit", with a warning. For other verbs a ValueError names the missing file or callback.
std::string checkpoint_path(const std::string& ckpt_path, const TrainerOptions& options, const std::string& verb);

/// Path of a file in the folder of a Trainer's own checkpoints.
std::string own_checkpoint(const TrainerOptions& options, const char* file);

/// Path of the checkpoint that an interruption saves; "" if the options exclude it.
std::string interrupted_checkpoint(const TrainerOptions& options);

/// Removes that file after a training of so many steps has ended: if the training has resumed from it or has passed it,
/// or has replaced last.ckpt beside it. `resumed_from` is "" for a new training. Without an epoch in `history`, no
/// effect.
void remove_interrupted(const TrainerOptions& options, const std::string& resumed_from, const History& history,
                        std::int64_t steps);

}  // namespace mezzo::detail
