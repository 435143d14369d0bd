#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/step_runner.hpp>

namespace mezzo::detail {

/// What an epoch's steps do to the loss scales, as progress bar and History show it.
class ScalingLog {
 public:
  /// The epoch begins.
  explicit ScalingLog(const StepRunner& runner);

  /// `loss_scale` as it is now and `skipped_steps` since then, for each optimizer whose gradients are scaled; of
  /// several optimizers with `_<name>`.
  std::vector<std::pair<std::string, double>> numbers() const;

 private:
  const StepRunner& runner_;
  std::vector<std::int64_t> skipped_;  // before, by optimizer
};

/// What closed a group's gate in an eager trace, which has the numbers of all its nodes; none if that was no value that
/// isn't finite.
std::optional<Overflow> overflow_of(const Graph& graph, int group);

}  // namespace mezzo::detail
