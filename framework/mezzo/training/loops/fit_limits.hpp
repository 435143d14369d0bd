#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/loops/loops.hpp>

namespace mezzo::detail {

/// Numbers of batches and steps of a fit, from its options and loaders.
struct FitLimits {
  /// A ValueError for an option that doesn't fit the loaders.
  FitLimits(const DataLoader& train, const DataLoaders& validation, const LoopOptions& options);

  /// Steps that the fit is to run, at most.
  std::int64_t planned_steps(const LoopOptions& options) const;

  std::int64_t epoch = 0;     ///< batches of an epoch
  bool whole_passes = false;  ///< true: each epoch is a pass of its own, even if it has fewer batches than the loader
  std::vector<std::int64_t> validations;  ///< batches of a validation, by loader
  std::int64_t validation = 0;            ///< batches of a validation; 0: none
  std::vector<std::int64_t> sanities;     ///< the same by loader
  std::int64_t sanity = 0;                ///< batches of the validation that precedes the training; 0: none
  std::int64_t check_every = 0;           ///< batches between validations in an epoch; 0: by time
  double check_seconds = 0;               ///< seconds between them; 0: by batches
};

}  // namespace mezzo::detail
