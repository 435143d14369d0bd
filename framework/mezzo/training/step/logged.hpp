#pragma once
#include <cstddef>
#include <string>

#include <mezzo/nn/metric.hpp>
#include <mezzo/training/module/log_options.hpp>

namespace mezzo::detail {

/// How the numbers of steps are reduced to the number of an epoch.
enum class Reduction { mean, sum, min, max };

/// Receivers of a logged number.
struct LogTargets {
  bool prog_bar = false;
  bool history = true;        ///< the epoch's number goes to History and callbacks
  bool logger_step = false;   ///< the step's number goes to loggers
  bool logger_epoch = false;  ///< the epoch's number goes to loggers
  Reduction reduction = Reduction::mean;
  bool add_dataloader_idx = true;
  bool running = false;  ///< of a metric: its numbers of steps are those of the epoch so far, not of the batch

  /// A NameError for an unknown reduce_fx, a ValueError if nothing receives the number.
  static LogTargets of(const std::string& name, const LogOptions& options, bool training);
};

/// A value that a step reports: an output of its plan, or the result of a metric that it updates.
struct Logged {
  std::string name;
  LogTargets targets{};
  Any<Metric> metric{};    ///< empty for an output
  std::size_t output = 0;  ///< index among the outputs; of a metric, of the first value of its batch_state()

  /// True for a metric whose result for each batch has a receiver.
  bool of_batch() const {
    return metric && !targets.running && (targets.logger_step || (targets.prog_bar && !targets.history));
  }
};

}  // namespace mezzo::detail
