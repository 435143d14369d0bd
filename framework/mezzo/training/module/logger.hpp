#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/training/module/hyperparameters.hpp>
#include <mezzo/training/module/logs.hpp>

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

  /// Writes buffered numbers to the files.
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

/// Type of the Trainer's option `logger`: a list of loggers and names, one of them without braces, or a bool.
class MEZZO_API Loggers : public std::vector<Any<Logger>> {
 public:
  using List = std::vector<Any<Logger>>;  ///< what Loggers derives from

  Loggers() = default;

  /// Loggers that all get the numbers, in this order.
  Loggers(std::initializer_list<Any<Logger>> loggers) : List(loggers) {}
  Loggers(List loggers) : List(std::move(loggers)) {}
  template <class L, std::enable_if_t<std::is_base_of_v<Logger, L>, int> = 0>
  Loggers(L logger) : List{Any<Logger>(std::move(logger))} {}
  Loggers(Any<Logger> logger) : List{std::move(logger)} {}
  /// A logger of that name. A NameError for another name.
  Loggers(const char* name) : List{Any<Logger>(name)} {}
  Loggers(const std::string& name) : List{Any<Logger>(name)} {}
  /// True: a CSVLogger in the Trainer's default_root_dir. False: none.
  template <class B, std::enable_if_t<std::is_same_v<B, bool>, int> = 0>
  Loggers(B on) : standard_(on) {
    if (on) push_back(Any<Logger>("csv"));
  }
  Loggers(std::nullptr_t) = delete;  // also a literal 0

  /// True for the logger that `true` stands for.
  bool standard() const { return standard_; }

 private:
  bool standard_ = false;
};

}  // namespace mezzo
