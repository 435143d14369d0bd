#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/data/loader.hpp>
#include <mezzo/model/history.hpp>
#include <mezzo/model/module.hpp>
#include <mezzo/precision/policy.hpp>

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
  History fit(Module& module, const DataLoader& train, const DataLoader& validation = {}) const;

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
