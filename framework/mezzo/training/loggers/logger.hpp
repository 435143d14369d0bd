#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/training/hyperparameters.hpp>
#include <mezzo/training/logs.hpp>

namespace mezzo {

class Module;

/// Base of loggers: receivers of the numbers of a Trainer's calls, `Trainer({.logger = {loggers::CSVLogger("logs")}})`.
/// Copies of a logger share their files. A function that throws ends the call with that error.
class MEZZO_API Logger {
 public:
  virtual ~Logger() = default;

  /// Receives numbers by name. `step` is Session::global_step(). Numbers of training steps come every
  /// `log_every_n_steps` steps, those of epochs and validations at their end, with the number "epoch".
  virtual void log_metrics(const Logs& metrics, std::int64_t step) = 0;

  /// Receives the module's hyperparameters, once at the start of fit, if it has some.
  virtual void log_hyperparams(const Hyperparameters&) {}

  /// Receives the module once at the start of fit, after its layers are built.
  virtual void log_graph(Module&) {}

  /// Folder of the files; "" if the logger writes none.
  virtual std::string log_dir() const { return {}; }

  /// Writes what is buffered to the files.
  virtual void save() {}

  /// Ends a call: "success", "interrupted" or "failed".
  virtual void finalize(const std::string& status) { static_cast<void>(status); }

  /// "csv", "json" or "tensorboard": that logger in the folder "mezzo_logs". A NameError for another name.
  static Any<Logger> from_name(const std::string& name);

 protected:
  Logger() = default;
  Logger(const Logger&) = default;
  Logger(Logger&&) = default;
  Logger& operator=(const Logger&) = default;
  Logger& operator=(Logger&&) = default;
};

/// Type of the Trainer's option `logger`.
using Loggers = std::vector<Any<Logger>>;

}  // namespace mezzo
