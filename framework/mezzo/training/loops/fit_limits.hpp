#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/data/loader.hpp>
#include <mezzo/data/loaders.hpp>
#include <mezzo/training/loops/settings.hpp>

namespace mezzo::detail {

/// Numbers of batches and steps of a fit, from its settings and loaders.
struct FitLimits {
  /// A ValueError for an option that doesn't fit the loaders.
  FitLimits(const DataLoader& train, const DataLoaders& validation, const FitSettings& settings);

  /// Steps that the fit is to run, at most.
  std::int64_t planned_steps(const FitSettings& settings) const;

  std::int64_t epoch = 0;     ///< batches of an epoch; all_batches: all of a loader without a size
  bool whole_passes = false;  ///< true: each epoch is a pass of its own, even if it has fewer batches than the loader
  std::vector<std::int64_t>
      validations;                     ///< batches of a validation, by loader; all_batches: all of one without a size
  std::int64_t validation = 0;         ///< their sum; 0: no validation
  std::vector<std::int64_t> sanities;  ///< batches of the validation that precedes the training, by loader
  std::int64_t sanity = 0;             ///< their sum; 0: no such validation
  std::int64_t check_every = 0;        ///< batches between validations in an epoch; 0: by time; all_batches: at its end
  double check_seconds = 0;            ///< seconds between them; 0: by batches
};

}  // namespace mezzo::detail
