#pragma once
#include <string>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>

namespace mezzo {

class Module;

/// Base of profilers: receivers of the actions of a Trainer's calls, `Trainer({.profiler = "simple"})`. Actions nest.
/// Names of actions are Lightning's: `[Trainer]fit`, `run_training_epoch`, `run_training_batch`,
/// `[_TrainingEpochLoop].train_dataloader_next`, `[Callback]EarlyStopping.on_epoch_end`.
class MEZZO_API Profiler {
 public:
  virtual ~Profiler() = default;

  virtual void start(const std::string& action) = 0;  ///< an action begins

  /// The innermost running action of that name ends. Writes no file, since it may run during stack unwinding.
  virtual void stop(const std::string& action) = 0;

  /// The end of an epoch of training: the module's plans have their times.
  virtual void on_epoch_end(Module&, int epoch) { static_cast<void>(epoch); }

  /// Ends a call, whose own action may still be running: writes the report. Inside of another call, where further
  /// actions are running, it does nothing.
  virtual void describe() {}

  /// "simple", "chrome" or "explain". A NameError for another name.
  static Any<Profiler> from_name(const std::string& name);

 protected:
  Profiler() = default;
  Profiler(const Profiler&) = default;
  Profiler(Profiler&&) = default;
  Profiler& operator=(const Profiler&) = default;
  Profiler& operator=(Profiler&&) = default;
};

}  // namespace mezzo
