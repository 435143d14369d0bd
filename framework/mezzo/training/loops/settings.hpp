#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <mezzo/training/loops/limits.hpp>
#include <mezzo/training/loops/loop_options.hpp>
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/module/logger.hpp>
#include <mezzo/training/module/profiler.hpp>
#include <mezzo/training/step/run_options.hpp>

namespace mezzo::detail {

class Checkpoint;

/// Settings of all calls.
struct CallSettings {
  Verbose verbose = 0;
  Callbacks callbacks{};
  Loggers loggers{};
  Any<Profiler> profiler{};
  std::string default_root_dir{};
  std::function<void()> make_loaders{};  ///< called after setup(); not given: the loaders exist already
  bool writes = true;                    ///< false: leaves out callbacks that aren't on_all_ranks()
};

/// Settings of fit: all options of Trainer::fit and Model::fit on their way to the loops.
struct FitSettings {
  CallSettings call{.verbose = 1};
  RunOptions run{};             ///< of each step
  int epochs = 1;               ///< number at which epochs end; < 0: no limit
  int initial_epoch = 0;        ///< number of the first epoch; not used with `reset`
  int min_epochs = 0;           ///< stops wait for that number of epochs
  std::int64_t max_steps = -1;  ///< updates; < 0: no limit
  std::int64_t min_steps = -1;  ///< stops wait for that number of updates
  double max_seconds = 0;       ///< 0: no limit
  /// Keras' steps_per_epoch: an epoch continues where the last one ended. Not given: the batches of the loader.
  std::optional<std::int64_t> steps_per_epoch{};
  std::optional<std::int64_t> validation_steps{};
  /// Lightning's limits: each epoch is a pass of its own.
  std::optional<BatchLimit> train_limit{}, validation_limit{};
  ValidationFrequency validation_freq = 1;
  CheckInterval val_check_interval = 1.0;
  bool checks_across_epochs = false;  ///< val_check_interval counts the batches of all epochs
  int sanity_steps = 0;               ///< < 0: all batches
  int log_every_n_steps = 50;
  bool chooses_policy = false;              ///< precision "auto"
  bool interruptible = false;               ///< SIGINT and SIGTERM end it after a step, with an Interrupted
  std::string interrupt_checkpoint{};       ///< checkpoint that is then saved; "": none
  bool reset = false;                       ///< resets the optimizers; limits then count from the start of the training
  const Checkpoint* checkpoint = nullptr;   ///< checkpoint to resume from, or null
  bool by_samples = false;                  ///< TrainerFitOptions::ckpt_by_samples
  std::function<bool(int epoch)> reload{};  ///< may replace the loaders before an epoch: true if it has
};

/// Settings of evaluate and predict.
struct EvaluationSettings {
  CallSettings call{};
  RunOptions run{};                     ///< of each step
  std::optional<std::int64_t> steps{};  ///< not given: all batches
  std::optional<BatchLimit> limit{};
  bool return_predictions = true;  ///< false: predict drops the outputs of a batch after its hooks
};

}  // namespace mezzo::detail
