#pragma once
#include <string>
#include <variant>

#include <mezzo/nn/schedule.hpp>
#include <mezzo/training/module/plateau.hpp>

namespace mezzo {

/// Scheduler of an optimizer's learning rate with the times of its steps, as Lightning's lr_scheduler_config:
/// `.lr_scheduler = {{.scheduler = ExponentialDecay({.decay_steps = 1}), .interval = "epoch"}}`.
struct LRSchedulerConfig {
  /// Required. A Schedule or function returns the learning rate for the number of the scheduler's step, counted from 0.
  /// A Plateau changes the optimizer's rate.
  std::variant<detail::LearningRate, Plateau> scheduler = detail::LearningRate(0.0);
  /// "epoch": steps at the end of complete epochs, before their validation. "step": steps after batches in which the
  /// optimizer has updated weights, once a batch. A Plateau steps after the validation that is due there.
  std::string interval = "epoch";
  /// Steps only after every n epochs, or every n batches of an epoch; 1 or more.
  int frequency = 1;
  std::string monitor{};  ///< required for a Plateau: name of the number in the logs of epochs, "val_loss"
  bool strict = true;     ///< true: a ValueError if that number does not exist yet; false: a warning
  std::string name{};     ///< name in the logs of LearningRateMonitor; "": "lr-" and the name of the optimizer
};

}  // namespace mezzo
