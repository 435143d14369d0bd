#pragma once
#include <optional>
#include <string>

namespace mezzo {

/// Options of Module::log.
struct LogOptions {
  bool prog_bar = false;  ///< shows the number in the progress bar
  bool logger = true;     ///< sends the number to the Trainer's loggers
  /// Sends the numbers of single steps to the loggers, every `log_every_n_steps` steps. Not given: in training steps.
  std::optional<bool> on_step{};
  /// Sends the number of the epoch to the loggers. Not given: except for training steps. False also leaves the number
  /// out of History and of the logs of callbacks. With on_step the loggers get "<name>_step" and "<name>_epoch".
  std::optional<bool> on_epoch{};
  std::string reduce_fx =
      "mean";  ///< how step values are reduced to an epoch value: "mean" over samples, "sum", "min", "max"
  /// Adds "/dataloader_idx_<i>" to the name in an evaluation with several loaders. False: the step must give the number
  /// of each loader a name of its own.
  bool add_dataloader_idx = true;
};

}  // namespace mezzo
