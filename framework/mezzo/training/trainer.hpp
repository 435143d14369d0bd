#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/data/loader.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/training/history.hpp>
#include <mezzo/training/module.hpp>

namespace mezzo {

/// Lightning's arguments.
struct TrainerOptions {
  int max_epochs = -1;          ///< -1: 1000, or without end if max_steps is set
  std::int64_t max_steps = -1;  ///< training steps after which to stop; -1: no limit
  Precision precision{};        ///< not given: each model's own policy
  bool enable_progress_bar = true;
  bool eager = false;  ///< runs op by op, without plans: slow, for debugging
  /// Of every optimizer, in steps that compute in float16: `.loss_scale = {{.dynamic = false, .initial_scale = 128}}`.
  /// Not given: what compile() or configure_optimizers says, else LossScaleOptions' defaults.
  std::optional<LossScaleOptions> loss_scale{};
};

struct TrainerFitOptions {
  std::string ckpt_path{};  ///< a file of save_checkpoint, from which to go on; "": begins anew
};

struct CheckpointOptions {
  /// In which weights are stored: float32 (float64 of float64 weights) if not given. A narrower one rounds them, of
  /// which one warning says by how much; what no policy narrows (batch normalization's) stays.
  std::optional<DType> dtype{};
};

/// Runs the loop: `Trainer({.max_epochs = 5, .precision = "bf16"}).fit(model, train_loader, val_loader)`. Its precision
/// holds during its calls, for every layer that has no dtype of its own (or of its container's).
class Trainer {
 public:
  /// A ValueError for limits below -1 and for loss_scale options out of their range.
  explicit Trainer(TrainerOptions options = {});

  /// Trains anew: optimizers begin without state. Validates after each epoch if there is a validation loader. A
  /// ValueError if a loader is absent, or the loss is not finite. Where loss scaling skips such a step instead, it
  /// warns (of the first 3 skips of an optimizer, then of the 4th, 8th, 16th, ...) and names the layer and op that gave
  /// the first value that is not finite; at the smallest scale that is the ValueError. History then has `loss_scale`,
  /// as it is at the end of the epoch, and `skipped_steps` in it; of several optimizers `loss_scale_<name>`, ....
  ///
  /// With `ckpt_path` goes on from there instead, until max_epochs and max_steps, which count from the start of that
  /// training; History has the epochs that run now, with their own numbers. The file may have been saved under another
  /// policy and other options of how variables and states are kept; under the same ones, saved between two steps, the
  /// training goes on bit for bit as if it had not been interrupted, for which the seed of the file is put in force. A
  /// FileError if the file is malformed, no checkpoint, or doesn't fit the module and its optimizers (it lists what is
  /// missing or unexpected): nothing has changed then.
  History fit(Module& module, const DataLoader& train, const DataLoader& validation = {},
              const TrainerFitOptions& options = {}) const;

  /// Writes what a training needs to go on under any policy (docs/precision.md) to a safetensors file: weights,
  /// optimizers' states, iterations and loss scales, steps and epochs done, the seed. The file appears as a whole: a
  /// FileError leaves the one that was there. A ValueError if the module has not been trained yet, or dtype is no
  /// floating one or can't hold a weight.
  static void save_checkpoint(Module& module, const std::string& path, const CheckpointOptions& options = {});

  /// What validation_step logs, averaged over the samples; for compiled models loss and metrics.
  Logs validate(Module& module, const DataLoader& loader) const;

  /// The same of test_step.
  Logs test(Module& module, const DataLoader& loader) const;

  /// The outputs for all samples.
  Tensor predict(Module& module, const DataLoader& loader) const;

 private:
  TrainerOptions options_;
};

}  // namespace mezzo
