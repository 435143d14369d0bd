#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/training/loops/batch_bar.hpp>
#include <mezzo/training/loops/evaluation_loop.hpp>
#include <mezzo/training/loops/fit_limits.hpp>
#include <mezzo/training/loops/loops.hpp>
#include <mezzo/training/loops/running_session.hpp>
#include <mezzo/training/step/scaling_log.hpp>

namespace mezzo::detail {

/// Parts of a fit that its loops share.
struct Fit {
  StepRunner& runner;
  RunningSession& session;
  const DataLoader& source;  ///< a reload changes it
  DataLoader train;
  const DataLoaders& validation;
  const FitSettings& settings;
  FitLimits& limits;
  BatchBar& bar;
  std::optional<std::int64_t> batch_size{};  ///< that a callback has set, in place of the loader's
  Progress& progress = runner.state();
  FitRecord& record = runner.state();
  RunningFit& running = runner.state();
  double agreed_seconds = 0;  ///< time of the training in which the processes agreed last
  Logs logs{};                ///< of the batch hooks, then of the end of the epoch

  /// Takes over a new loader or batch size.
  void renew_data();

  /// Time of the training, the same in all processes of the group.
  double seconds() const { return runner.group().shared() ? agreed_seconds : session.seconds(); }

  /// True if a stop or a limit of steps or time ends the training now.
  bool ends() const;

  /// True unless stops have to wait for min_epochs and min_steps.
  bool may_stop() const;
};

/// Batches of one epoch, with the validations between and after them.
class EpochLoop {
 public:
  explicit EpochLoop(Fit& fit) : fit_(fit) {}

  /// Takes the next batch from the loader as it is then.
  void reload() { stream_.reset(); }

  /// Trains until the end of the epoch, a limit or a stop, from batch Progress::batch on.
  void run();

  /// Numbers of the epoch so far: means, loss scales, skipped steps.
  Numbers numbers(bool for_bar) const;

  /// Sets loss scales and skipped steps so far.
  void write_scaling(Logs& logs) const { scaling_->write(logs, fit_.record.epoch_means); }

  bool non_finite() const { return non_finite_; }

  /// True after the last batch of the epoch.
  bool complete() const;

 private:
  void begin();
  /// Runs one step. False if its loss was not finite and a callback takes that for the end of the training.
  bool step();
  /// Takes a batch without a training step. Skip::epoch: ends the epoch.
  void pass_over(const HostBatch& batch, Skip skip);
  void advance(const HostBatch& batch);
  /// Leaves out the batches of the epoch that were not taken.
  void skip_rest();
  bool validation_is_due() const;
  HostBatch next_batch();
  /// Batches to read in one stream: of the epoch, or of the rest of the fit if an epoch continues the pass of the one
  /// before.
  std::int64_t batches_ahead() const;
  void log_step();

  Fit& fit_;
  std::optional<BatchStream> stream_;  // at Progress::samples of Progress::pass
  bool last_of_pass_ = false;          // true if the running batch is the last of its pass
  std::optional<ScalingLog> scaling_;
  std::optional<double> validated_;  // Fit::seconds() of the last validation
  Logs outputs_;                     // of the last step
  bool non_finite_ = false;
  bool left_out_ = false;  // true if a step of the epoch has left its batch out
};

/// Runs the epochs of one fit. Training state and optimizers are those of the module; a resumed epoch continues its
/// means.
class FitLoop {
 public:
  /// Builds the layers and makes or restores the optimizers.
  explicit FitLoop(Fit& fit);

  History run();

 private:
  void resume(const Checkpoint& checkpoint);
  /// Tells the file and the epoch that the training continues from, or warns that nothing is left to train.
  void tell_resume(const std::string& path) const;
  void check_sanity();
  void start(const Checkpoint* checkpoint);
  bool more_epochs() const;
  void reload();
  void run_epoch();

  Fit& fit_;
  std::optional<EpochLoop> epoch_;
};

/// Validates inside of fit: sets EpochRecord::validated.
void validate_in_fit(Fit& fit, const Numbers& shown);

}  // namespace mezzo::detail
