#pragma once
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/training/callbacks/callback.hpp>
#include <mezzo/training/events/event.hpp>
#include <mezzo/training/step_runner.hpp>

namespace mezzo::detail {

/// Lets hooks use a module that this thread runs, for its lifetime: predict, evaluate and save_checkpoint accept the
/// module between two steps of the run.
class BetweenSteps {
 public:
  explicit BetweenSteps(TrainingState& state);
  ~BetweenSteps() { state_.between_steps = before_; }
  BetweenSteps(const BetweenSteps&) = delete;
  BetweenSteps& operator=(const BetweenSteps&) = delete;

 private:
  TrainingState& state_;
  const void* before_;
};

/// The Session of one call, and the callbacks that take part in it.
class RunningSession final : public Session {
 public:
  /// Numbers that a call has from its start.
  struct Limits {
    int epochs = 1;
    std::int64_t steps = 0;
    int verbose = 0;
  };

  /// Calls of fit become the session of the training state.
  RunningSession(Verb verb, StepRunner& runner, const Callbacks& callbacks, const Limits& limits);
  ~RunningSession() override;

  Verb verb() const override { return verb_; }
  Module& module() const override { return runner_.module(); }
  int epochs() const override { return limits_.epochs; }
  std::int64_t steps() const override { return limits_.steps; }
  int verbose() const override { return limits_.verbose; }
  int current_epoch() const override { return epoch; }
  std::int64_t current_batch() const override { return batch_; }
  std::int64_t global_step() const override { return state_.step; }
  const Logs& logs() const override { return *logs_; }
  const History& history() const override { return state_.history; }
  void stop() override { stopping_ = true; }
  bool stopping() const override { return stopping_; }
  const OptimizerConfigs& optimizers() const override { return state_.optimizers; }
  void resume(const std::string& path) override;
  const std::vector<Tensor>& outputs() const override;

  /// False if there is nothing to call: loops then compute no numbers for hooks.
  bool has_callbacks() const { return !callbacks_.empty(); }

  /// Calls the hooks of an event: those of the module will come first, then callbacks in the order of the list, then
  /// callbacks that write checkpoints.
  void fire(Event event, std::int64_t number, Logs& logs);
  void fire(Event event, Logs& logs) { fire(event, 0, logs); }

  /// True if a callback ends the training without the error.
  bool absorbs_non_finite(std::int64_t batch, const std::string& error);

  /// Calls on_exception of all callbacks.
  void fail_with(const std::exception& error, Logs& logs);

  /// Callbacks whose state checkpoints keep.
  std::vector<std::pair<std::string, Callback*>> stateful() const;

  int epoch = 0;
  std::function<void(const std::string&)> resume_from;  ///< set during on_train_begin of fit
  const std::vector<Tensor>* batch_outputs = nullptr;   ///< set during on_predict_batch_end

 private:
  Verb verb_;
  StepRunner& runner_;
  TrainingState& state_;
  Limits limits_;
  std::vector<Callback*> callbacks_;
  std::deque<CallbackSession> attached_;
  Logs none_;
  Logs* logs_ = &none_;
  std::int64_t batch_ = -1;
  bool stopping_ = false;
};

}  // namespace mezzo::detail
