#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/loops/call_scope.hpp>
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/module/event.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// Lets hooks use a module that this thread runs, for its lifetime: predict, evaluate and save_checkpoint accept the
/// module between two steps of the run.
class BetweenSteps {
 public:
  explicit BetweenSteps(RunningFit& running);
  ~BetweenSteps() { running_.between_steps = before_; }
  BetweenSteps(const BetweenSteps&) = delete;
  BetweenSteps& operator=(const BetweenSteps&) = delete;

 private:
  RunningFit& running_;
  const void* before_;
};

/// Part of a training that a hook leaves out, before a step.
enum class Skip { none, batch, epoch };

/// The Session of one call, with the callbacks and loggers that take part in it.
class RunningSession final : public FitSession {
 public:
  /// Calls of fit become the session of the RunningFit.
  RunningSession(const CallScope& scope, StepRunner& runner);
  ~RunningSession() override;
  RunningSession(const RunningSession&) = delete;
  RunningSession& operator=(const RunningSession&) = delete;

  Stage stage() const override { return stage_; }
  bool sanity_checking() const override { return sanity; }
  Module& module() const override { return runner_.module(); }
  int epochs() const override { return epoch_count; }
  std::int64_t steps() const override { return batch_count; }
  int verbose() const override { return call_.verbose; }
  int current_epoch() const override;
  std::int64_t current_batch() const override;
  std::size_t dataloader_idx() const override { return dataloader; }
  std::int64_t global_step() const override;
  double seconds() const override;
  const Logs& logs() const override { return *logs_; }
  Logs progress_bar_metrics() const override;
  Logs callback_metrics() const override;
  const Logs& logged_metrics() const override { return logged_; }
  const History& history() const override { return record_.history; }
  void log_metrics(const Logs& metrics) override;
  const Loggers& loggers() const override { return call_.loggers; }
  void set_accumulate_grad_batches(int batches) override;
  int accumulate_grad_batches() const override { return std::max(runner_.accumulation(), 1); }
  const std::string& default_root_dir() const override { return call_.default_root_dir; }
  const HostBatch& batch() const override;
  const Logs& step_outputs() const override;
  void stop() override { stopping_ = true; }
  void skip_batch() override { skip(Skip::batch, "skip_batch"); }
  void skip_epoch() override { skip(Skip::epoch, "skip_epoch"); }
  bool stopping() const override { return stopping_; }
  const OptimizerConfigs& optimizers() const override { return optimizing_.optimizers; }
  std::size_t add_param_group(ParamGroup group) override;
  const std::vector<ParamGroup>& param_groups() const override { return record_.param_groups; }
  void set_param_group_learning_rate(std::size_t index, double rate) override;
  void save_checkpoint(const std::string& path, const CheckpointOptions& options) const override;
  void resume(const std::string& path) override;
  const std::vector<Tensor>& outputs() const override;
  std::int64_t batch_size() const override { return samples_; }
  bool validates_each_epoch() const override { return each_epoch; }
  bool awaits_validation() const override { return validating && record_.validated_at == 0; }
  bool logs_step() const override { return !call_.loggers.empty() && step_ % log_every_n_steps == 0; }
  const std::string& ckpt_path() const override { return resumed_from; }
  void try_steps(std::int64_t steps, const std::function<void(std::int64_t step)>& before,
                 const std::function<bool(std::int64_t step, double loss)>& after) override;

  void read_weights(const std::function<void()>& read) const override;
  std::int64_t train_samples() const override;
  bool try_batch_size(std::int64_t batch_size, std::int64_t steps, std::int64_t memory_limit) override;
  void set_batch_size(std::int64_t batch_size) override;

  /// False if there are no callbacks except those of the loops: these then compute no numbers for them.
  bool has_callbacks() const;

  /// Calls the hooks of an event: those of callbacks in the order of the list, then the module's, then those of
  /// callbacks that write checkpoints.
  void fire(Event event, Logs& logs, std::int64_t number = 0, const HostBatch* batch = nullptr,
            const Logs* outputs = nullptr);

  /// Returns what the hooks of the beginning of the batch leave out, in all processes if in one. Communicates.
  Skip take_skip();

  /// True if a callback ends the training without the error.
  bool absorbs_non_finite(std::int64_t batch, const std::string& error);

  /// Sends numbers of the last step of an evaluation to the loggers, for the number of batches of that loader before
  /// it, as Lightning: of all evaluations of the training, or of the call. No effect in sanity steps.
  void log_evaluation_step(const Means& means, std::size_t loader, const Means::Key& key);

  /// Calls on_exception of all callbacks, and ends the loggers with that status.
  void fail_with(const std::exception& error, Logs& logs, const std::string& status = "failed");

  /// Ends the loggers with that status.
  void finalize(const std::string& status);

  NamedCallbacks stateful() const override;

  /// Adds the time since the last call to Progress::seconds.
  void count_time();

  /// Leaves out the time since then.
  void restart_clock() { start_ = std::chrono::steady_clock::now(); }

  int epoch_count = 1;           ///< epochs()
  std::int64_t batch_count = 0;  ///< steps()
  bool accumulates = false;      ///< true if the Trainer may set accumulate_grad_batches
  int epoch = 0;
  bool sanity = false;
  std::size_t dataloader = 0;  ///< dataloader_idx()
  bool each_epoch = true;      ///< validates_each_epoch()
  bool validating = false;     ///< true if fit has validation steps
  std::int64_t log_every_n_steps = 50;
  std::string resumed_from;                             ///< ckpt_path()
  std::function<void(std::int64_t)> resize_batches;     ///< set until the first step of fit
  const DataLoader* train = nullptr;                    ///< data of fit
  std::function<void(const std::string&)> resume_from;  ///< set during on_train_begin of fit
  Means* evaluated = nullptr;                           ///< numbers of the running evaluation
  const std::vector<Tensor>* batch_outputs = nullptr;   ///< set during on_predict_batch_end

 private:
  void skip(Skip skip, const char* call);

  /// Numbers that hooks of an event may add to; null if none.
  Means* numbers_of(Event event) const;

  Stage stage_;
  StepRunner& runner_;
  Optimizing& optimizing_;
  Progress& progress_;
  FitRecord& record_;
  RunningFit& running_;
  const CallSettings& call_;
  std::vector<Callback*> callbacks_;
  std::size_t late_callbacks_ = 0;  // index of the first callback that writes checkpoints or runs in one process alone
  std::deque<CallbackSession> attached_;
  Logs none_;
  Logs* logs_ = &none_;
  Logs logged_;                            // logged_metrics()
  const HostBatch* host_batch_ = nullptr;  // in hooks of batches
  const Logs* step_outputs_ = nullptr;     // in hooks of the end of a training batch
  Skip skip_ = Skip::none;
  bool may_skip_ = false;  // in hooks of the beginning of a training batch
  std::int64_t batch_ = -1, samples_ = 0;
  std::vector<std::int64_t> evaluated_batches_;  // by loader, outside of fit
  std::int64_t step_ = 1;                        // number of the running or last training step, from 1
  bool stopping_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace mezzo::detail
