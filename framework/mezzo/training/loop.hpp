#pragma once
#include <cstdint>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/checkpoint.hpp>
#include <mezzo/training/history.hpp>

namespace mezzo::detail {

/// Options of the training loop.
struct LoopOptions {
  int epochs = 1;               ///< < 0: no limit
  std::int64_t max_steps = -1;  ///< < 0: no limit
  bool progress_bar = true;     ///< writes a progress bar
  bool anew = false;            ///< gives optimizers without state; limits then count from the start of the training
  const Checkpoint* checkpoint = nullptr;  ///< checkpoint to resume from, or null
};

/// Trains epochs, each followed by validation if that loader isn't absent.
History fit(Module& module, const DataLoader& train, const DataLoader& validation, const RunOptions& run,
            const LoopOptions& options);

/// Means over the samples of the numbers that a phase's steps log.
Logs evaluate(Module& module, const DataLoader& loader, Phase phase, const RunOptions& run);

}  // namespace mezzo::detail
