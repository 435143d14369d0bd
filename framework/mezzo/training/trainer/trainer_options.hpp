#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/distributed/strategy.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/training/loops/limits.hpp>
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/module/logger.hpp>
#include <mezzo/training/module/profiler.hpp>
#include <mezzo/training/trainer/trainer_environment.hpp>

namespace mezzo {

/// Options of Trainer, named as in Lightning. The default of an option that has a `from_environment` is the value of
/// `MEZZO_TRAINER_<OPTION>` if that is set: `MEZZO_TRAINER_MAX_EPOCHS=3`. A ValueError if the value has another form,
/// and for a variable with that prefix that is not an option. Numbers of epochs and steps count from the start of the
/// training, also after a resume.
struct TrainerOptions {
  /// Epochs after which fit ends; -1: no limit. Not given: 1000, or no limit with max_steps or max_time.
  std::optional<int> max_epochs = detail::from_environment("max_epochs");
  /// Updates after which fit ends; skipped steps and steps that only accumulate don't count. -1: no limit.
  std::int64_t max_steps = detail::from_environment("max_steps").value_or(std::int64_t{-1});
  /// Time after which fit ends, at the end of a step. Includes the time before a resume.
  std::optional<detail::Duration> max_time = detail::from_environment("max_time");
  int min_epochs = detail::from_environment("min_epochs").value_or(0);  ///< fit does not stop before the end of these
                                                                        ///< epochs
  std::int64_t min_steps =
      detail::from_environment("min_steps").value_or(std::int64_t{-1});  ///< fit does not stop before these updates

  /// Training batches per epoch; the loader has a new order in each epoch. 0: no training.
  detail::BatchLimit limit_train_batches =
      detail::from_environment("limit_train_batches").value_or(detail::BatchLimit(1.0));
  detail::BatchLimit limit_val_batches =
      detail::from_environment("limit_val_batches").value_or(detail::BatchLimit(1.0));  ///< 0: none
  detail::BatchLimit limit_test_batches =
      detail::from_environment("limit_test_batches").value_or(detail::BatchLimit(1.0));  ///< 0: none
  detail::BatchLimit limit_predict_batches =
      detail::from_environment("limit_predict_batches").value_or(detail::BatchLimit(1.0));  ///< 0: none
  /// Trains every epoch on the same first n batches, in the order of the data, and validates on n. 0: off.
  detail::BatchLimit overfit_batches = detail::from_environment("overfit_batches").value_or(detail::BatchLimit(0));
  /// Smoke test: runs n batches (true: 1) of training and of each evaluation, without loggers and checkpoints. 0: off.
  int fast_dev_run = detail::from_environment("fast_dev_run").value_or(0);

  /// Epochs after which fit calls the loaders of a DataModule again; 0: never. A ValueError in fit without one.
  int reload_dataloaders_every_n_epochs = detail::from_environment("reload_dataloaders_every_n_epochs").value_or(0);

  /// Validates every n batches, at shares of an epoch, or by time; 1.0: at the end of epochs.
  detail::CheckInterval val_check_interval =
      detail::from_environment("val_check_interval").value_or(detail::CheckInterval(1.0));
  /// Epochs after which fit validates, 1 or more. {}: epochs don't count, and val_check_interval, which is then a time
  /// or a number of batches, may exceed an epoch.
  std::optional<int> check_val_every_n_epoch = detail::from_environment("check_val_every_n_epoch").value_or(1);
  /// Validation batches that fit runs before it trains, to find errors early; their numbers are dropped. -1: all.
  int num_sanity_val_steps = detail::from_environment("num_sanity_val_steps").value_or(2);

  /// Batches whose mean gradient makes one update. The last update of an epoch may have fewer; its sum is divided by
  /// this number, too. A ValueError with an optimizer that has gradient_accumulation_steps.
  int accumulate_grad_batches = detail::from_environment("accumulate_grad_batches").value_or(1);
  /// Bound of the gradients, above 0. A ValueError with an optimizer that has clipnorm, clipvalue or global_clipnorm.
  std::optional<double> gradient_clip_val = detail::from_environment("gradient_clip_val");
  /// "norm": scales all gradients of an optimizer if their common norm is above gradient_clip_val. "value": clips each
  /// element.
  std::string gradient_clip_algorithm =
      detail::from_environment("gradient_clip_algorithm").value_or(std::string("norm"));

  /// Ranks that train together: "auto", "single", "mpi" or a Communicator (docs/distributed.md). Each rank takes its
  /// part of every batch: batch_size is that of one rank.
  Strategy strategy = detail::from_environment("strategy").value_or(Strategy());
  /// Divides optimizer states and updates, and under mixed_bfloat16 the float32 masters, among the ranks: each rank has
  /// those of some whole weights (ZeRO, stage 1). Hooks that read weights then make a WholeWeights. Results equal those
  /// of undivided states, or of split_master_weights. No effect with one rank.
  bool shard_optimizer_states = detail::from_environment("shard_optimizer_states").value_or(false);
  /// "bf16": gradients are sent as bfloat16, half of the bytes; rounding errors are added to the next gradients.
  /// "": as float32 or float64. A ValueError for another name. No effect with one rank.
  std::string gradient_compression = detail::from_environment("gradient_compression").value_or(std::string());
  /// True: every batch normalization uses the statistics of all ranks in training, as torch's SyncBatchNorm. False:
  /// only layers that are `synchronized`. No effect for one rank.
  bool sync_batchnorm = detail::from_environment("sync_batchnorm").value_or(false);
  /// Policy of all calls of this Trainer; not given: each model's own.
  Precision precision = detail::from_environment("precision").value_or(Precision());
  Callbacks callbacks{};  ///< called between the steps of all calls; as in Model::fit
  /// Receive the logged numbers: `{loggers::CSVLogger("logs"), "json"}`, "csv", or true: CSV files in the folder
  /// "mezzo_logs" of default_root_dir. {} or false: none.
  Loggers logger = detail::from_environment("logger").value_or(Loggers());
  Any<Profiler> profiler =
      detail::from_environment("profiler").value_or(Any<Profiler>());                  ///< times the loops' actions
  int log_every_n_steps = detail::from_environment("log_every_n_steps").value_or(50);  ///< steps between the numbers
                                                                                       ///< sent to loggers; 1 or more
  /// True: fit saves a checkpoint in default_root_dir after each epoch, if no callback saves one. False: a callback
  /// that saves is a ValueError. Not given: only callbacks save.
  std::optional<bool> enable_checkpointing = detail::from_environment("enable_checkpointing");
  /// Writes a progress bar during fit.
  bool enable_progress_bar = detail::from_environment("enable_progress_bar").value_or(true);
  /// Prints the summary of the module at the start of fit.
  bool enable_model_summary = detail::from_environment("enable_model_summary").value_or(false);
  std::string default_root_dir =
      detail::from_environment("default_root_dir").value_or(std::string());  ///< "": the current one

  /// Makes sums depend only on the data and the number of threads: turns adaptive_threads off, also where it is the
  /// process's default. A ValueError with adaptive_threads.
  bool deterministic = detail::from_environment("deterministic").value_or(false);
  /// Ends any call at the first step whose loss, gradients, logged numbers or outputs are not finite, with an error
  /// that names the layer and op; steps under loss scaling, which would be skipped, too. Slow.
  bool detect_anomaly = detail::from_environment("detect_anomaly").value_or(false);
  /// Turns off everything that takes time beside the steps: loggers, progress bar, summary, checkpoints, sanity steps.
  /// A ValueError if one of them is given.
  bool barebones = detail::from_environment("barebones").value_or(false);

  bool eager = detail::from_environment("eager").value_or(false);  ///< runs op by op without plans: slow, for debugging
  /// Scaling of gradients in steps that compute in float16, for every optimizer:
  /// `.loss_scale = {{.dynamic = false, .initial_scale = 128}}`. Not given: the options of compile() or
  /// configure_optimizers(), else the defaults of LossScaleOptions.
  std::optional<LossScaleOptions> loss_scale{};
  /// Runs steps on fewer threads while other programs take the processors; sums then differ in their last digits. Not
  /// given: adaptive_threads(), which is off by default.
  std::optional<bool> adaptive_threads = detail::from_environment("adaptive_threads");
  /// False: 3 x 3 convolutions of float32 operands are plain sums. True: they run by Winograd's algorithm where it is
  /// faster, which rounds about twice as much (docs/precision.md). Not given: true, unless MEZZO_FLOAT32_WINOGRAD=0.
  std::optional<bool> float32_winograd = detail::from_environment("float32_winograd");
  /// Precision of float32 matrix products: "highest", "high" or "medium"; see set_float32_matmul_precision(). Not
  /// given: float32_matmul_precision(). A NameError for another name.
  std::optional<std::string> float32_matmul_precision = detail::from_environment("float32_matmul_precision");
};

}  // namespace mezzo
