#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/module/history.hpp>
#include <mezzo/training/module/session.hpp>
#include <mezzo/training/step/means.hpp>
#include <mezzo/training/step/scheduler_state.hpp>

namespace mezzo::detail {

/// Optimizers of a module.
struct Optimizing {
  OptimizerConfigs optimizers;
  bool configured = false;                 ///< true once `optimizers` are set
  std::vector<SchedulerState> schedulers;  ///< by optimizer; empty before the first
};

/// Position in a training.
struct Progress {
  std::int64_t step = 0;      ///< training steps done, skipped steps too
  std::int64_t updates = 0;   ///< steps that have updated weights
  double seconds = 0;         ///< time of the fits so far, by the running one when it saves
  std::int64_t epoch = 0;     ///< epochs done
  std::int64_t batch = 0;     ///< batches done of the unfinished epoch
  std::int64_t pass = 0;      ///< passes over the data done; differs from `epoch` under steps_per_epoch
  std::int64_t position = 0;  ///< batches done of the unfinished pass
  std::int64_t samples = 0;   ///< samples of these batches
  int fit_epoch = 0;          ///< number of the running or next epoch of the fit, as in its History
};

/// Numbers of the unfinished epoch.
struct EpochRecord {
  Means epoch_means;                                           ///< of its batches so far
  std::map<std::string, std::vector<Tensor>> resumed_metrics;  ///< until its first step after a resume
  std::vector<std::int64_t> skipped_before;                    ///< by optimizer, skipped steps at its start
  Numbers validated;                         ///< of the last validation in it, under the names of History
  std::set<std::string> validated_in_bar{};  ///< names among them that the progress bar shows
  std::int64_t validated_at = 0;             ///< its batches before that validation; 0: none
};

/// Data and results of the last fit. A fit clears it at its start.
struct FitRecord : EpochRecord {
  LoaderFingerprint data;                ///< whose batches the progress counts
  std::vector<ParamGroup> param_groups;  ///< weights with learning rates of their own
  History history;                       ///< epochs that have ended
  /// Validation batches before now, by loader; those of the sanity check don't count.
  std::vector<std::int64_t> evaluated_batches{};
};

}  // namespace mezzo::detail
