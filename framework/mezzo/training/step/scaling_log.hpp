#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/step/means.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// Loss scales and skipped steps of one epoch, for progress bar, History, callbacks and loggers.
class ScalingLog {
 public:
  /// Starts an epoch.
  explicit ScalingLog(const StepRunner& runner);

  /// Continues an epoch that started with these numbers of skipped steps, by optimizer.
  ScalingLog(const StepRunner& runner, std::vector<std::int64_t> before)
      : runner_(runner), skipped_(std::move(before)) {
    skipped_.resize(runner.optimizers().size());
    add_names();
  }

  const std::vector<std::int64_t>& before() const { return skipped_; }

  /// For each optimizer with scaled gradients, `loss_scale` now and `skipped_steps` since the start of the epoch. With
  /// several optimizers the names end in `_<name>`.
  std::vector<std::pair<std::string, double>> numbers() const;

  /// Sets them in logs, but those that the module logs under these names. Allocates nothing once `logs` has the names.
  void write(Logs& logs, const Means& logged) const;

 private:
  struct Names {
    std::string scale, skipped;
  };
  void add_names();

  std::vector<Names> names_;  // by optimizer
  const StepRunner& runner_;
  std::vector<std::int64_t> skipped_;  // at the start of the epoch, by optimizer
};

}  // namespace mezzo::detail
