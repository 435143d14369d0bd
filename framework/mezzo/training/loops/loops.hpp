#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/callbacks/callback.hpp>
#include <mezzo/training/checkpoint.hpp>
#include <mezzo/training/history.hpp>
#include <mezzo/training/loop_options.hpp>

namespace mezzo::detail {

/// Options of fit.
struct LoopOptions {
  int epochs = 1;                                 ///< number at which epochs end; < 0: no limit
  int initial_epoch = 0;                          ///< number of the first epoch; not used with `anew`
  std::int64_t max_steps = -1;                    ///< < 0: no limit
  std::optional<std::int64_t> steps_per_epoch{};  ///< not given: the batches of the loader
  std::optional<std::int64_t> validation_steps{};
  ValidationFrequency validation_freq = 1;
  Verbose verbose = 1;
  Callbacks callbacks{};
  bool anew = false;  ///< gives optimizers without state; limits then count from the start of the training
  const Checkpoint* checkpoint = nullptr;  ///< checkpoint to resume from, or null
};

/// Options of evaluate and predict.
struct EvaluationOptions {
  Verbose verbose = 0;
  std::optional<std::int64_t> steps{};  ///< not given: all batches
  Callbacks callbacks{};
};

/// Trains epochs, each followed by validation if that loader isn't absent.
History fit(Module& module, const DataLoader& train, const DataLoader& validation, const RunOptions& run,
            const LoopOptions& options);

/// Means over the samples of the numbers that a phase's steps log.
Logs evaluate(Module& module, const DataLoader& loader, Phase phase, const RunOptions& run,
              const EvaluationOptions& options = {});

/// Outputs for all samples, concatenated along axis 0: one tensor for each output of predict_step.
std::vector<Tensor> predict_all(Module& module, const DataLoader& loader, const RunOptions& run,
                                const EvaluationOptions& options = {});

/// The same for a module with one output. A ValueError if it has several.
Tensor predict(Module& module, const DataLoader& loader, const RunOptions& run, const EvaluationOptions& options = {});

}  // namespace mezzo::detail
