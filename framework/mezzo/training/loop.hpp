#pragma once
#include <cstdint>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/checkpoint.hpp>
#include <mezzo/training/history.hpp>

namespace mezzo::detail {

struct LoopOptions {
  int epochs = 1;               ///< < 0: without end
  std::int64_t max_steps = -1;  ///< < 0: no limit
  bool progress_bar = true;
  bool anew = false;                       ///< optimizers without state; limits count from the start of the training
  const Checkpoint* checkpoint = nullptr;  ///< from which a training goes on that isn't begun anew
};

/// Epochs of training, each followed by validation if that loader isn't absent.
History fit(Module& module, const DataLoader& train, const DataLoader& validation, const RunOptions& run,
            const LoopOptions& options);

/// Means over the samples of what a phase's steps log.
Logs evaluate(Module& module, const DataLoader& loader, Phase phase, const RunOptions& run);

/// The outputs for all samples, one after another.
Tensor predict(Module& module, const DataLoader& loader, const RunOptions& run);

}  // namespace mezzo::detail
