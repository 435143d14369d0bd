#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/training/module/history.hpp>
#include <mezzo/training/module/logger.hpp>

namespace mezzo {

namespace detail {

/// Numbers of a running call and its loggers. Every hook may use them.
class MEZZO_API SessionNumbers {
 public:
  virtual ~SessionNumbers() = default;

  /// The last numbers that hooks received. In on_train_batch_end these are the means of the epoch so far.
  virtual const Logs& logs() const = 0;

  /// Numbers that are logged with prog_bar: of the running evaluation, else of the epoch so far, with those of its
  /// last validation.
  virtual Logs progress_bar_metrics() const = 0;

  /// Last number of each name that callbacks can monitor: those of the epochs that have ended, then those of the epoch
  /// so far and of its last validation. In an evaluation alone: its means so far.
  virtual Logs callback_metrics() const = 0;

  /// Last number of each name that this call has sent to its loggers; empty without loggers.
  virtual const Logs& logged_metrics() const = 0;

  /// Epochs of this fit that have ended.
  virtual const History& history() const = 0;

  /// Sends numbers to the loggers of the Trainer, for the current global_step(). No effect without loggers
  /// and in sanity steps.
  virtual void log_metrics(const Logs& metrics) = 0;
  virtual const Loggers& loggers() const = 0;

 protected:
  SessionNumbers() = default;
  SessionNumbers(const SessionNumbers&) = default;
  SessionNumbers& operator=(const SessionNumbers&) = default;
};

}  // namespace detail
}  // namespace mezzo
