#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/training/loops/evaluation_loop.hpp>
#include <mezzo/training/loops/loops.hpp>
#include <mezzo/training/loss_scaling.hpp>

namespace mezzo::detail {

/// Runs the epochs of one fit. Training state and optimizers are those of the module; a resumed epoch continues its
/// means.
class FitLoop {
 public:
  /// Builds the layers and makes or restores the optimizers.
  FitLoop(StepRunner& runner, const DataLoader& train, const DataLoader& validation, const LoopOptions& options);

  History run();

 private:
  void resume(const Checkpoint& checkpoint);
  bool more_steps() const { return options_.max_steps < 0 || steps_done_ < options_.max_steps; }
  bool more_epochs() const { return options_.epochs < 0 || state_.fit_epoch < options_.epochs; }
  void run_epoch(RunningSession& session);
  /// Trains until the end of the epoch, a limit or a stop.
  void train_batches(RunningSession& session);
  /// Runs one step. False if its loss was not finite and a callback takes that for the end of the training.
  bool step(RunningSession& session, const HostBatch& batch);
  HostBatch next_batch();
  void validate(RunningSession& session, Logs& logs, Numbers& shown);
  /// Numbers of the epoch: means, loss scales, skipped steps.
  Numbers numbers(bool prog_bar_only) const;

  StepRunner& runner_;
  TrainingState& state_;
  const DataLoader& train_;
  const DataLoader& validation_;
  const LoopOptions& options_;
  std::int64_t epoch_steps_, validation_steps_ = 0;
  ProgressBar bar_;
  std::optional<BatchStream> stream_;  // at state_.position of state_.pass
  std::optional<ScalingLog> scaling_;
  std::int64_t steps_done_ = 0;
  bool non_finite_ = false;
  Logs logs_;  // of the batch hooks, then of the end of the epoch
};

}  // namespace mezzo::detail
