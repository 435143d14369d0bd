#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/timing.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// Timing of training steps of one model under several policies that take turns: for precision "auto", for the warning
/// of a slow policy and for reports. The time of a step is the median.
constexpr int warm_up_steps = 2;  // of each round, not timed

/// Steps under one policy.
struct Trial {
  Policy policy{};
  std::vector<double> seconds{};  ///< of each timed step of all rounds, without skipped steps
  double taken = 0;               ///< seconds of the timed steps of the last round
  std::vector<double> losses{};   ///< of the first steps of the first round; NaN: the step was skipped

  /// Seconds of a step.
  double time() const { return median(seconds); }

  /// The same; none if the rounds don't agree on it.
  std::optional<double> agreed_time() const { return agreed_median(seconds); }
};

/// Length of a round: it ends after `steps` timed steps, or later once they take `least_seconds`. It ends in any case
/// once they take `most_seconds`.
struct Round {
  int steps = 1;
  double least_seconds = 0;
  double most_seconds = std::numeric_limits<double>::infinity();
  bool counts_skipped = false;  ///< times skipped steps too
};

/// Trains for a round on the batches, with optimizers that begin without state, and adds its times to the trial.
/// Restores weights. Returns the plan of the steps.
std::shared_ptr<const Plan> take_steps(Module& module, const std::vector<HostBatch>& batches, const RunOptions& run,
                                       const Round& round, Trial& trial);

/// The first batches of the loader, at most `count`, that have the size of the very first one.
std::vector<HostBatch> sample(const DataLoader& loader, int count);

/// Restores the module's optimizers and counters on destruction, and discards its plans.
class KeptTraining {
 public:
  explicit KeptTraining(Module& module);
  ~KeptTraining();
  KeptTraining(const KeptTraining&) = delete;
  KeptTraining& operator=(const KeptTraining&) = delete;

 private:
  Optimizing& optimizing_;
  Progress& progress_;
  PlanCache& plans_;
  Optimizing kept_optimizing_;
  Progress kept_progress_;
  std::vector<Optimizer::State> numbers_;  // of the optimizers
};

/// Implements Session::try_steps() for the runner of a fit.
void try_steps(StepRunner& runner, const DataLoader& train, std::int64_t steps,
               const std::function<void(std::int64_t)>& before, const std::function<bool(std::int64_t, double)>& after);

/// Implements Session::try_batch_size().
bool try_batch_size(StepRunner& runner, const DataLoader& train, std::int64_t batch_size, std::int64_t steps,
                    std::int64_t memory_limit);

/// Lets all layers inherit their policy for its lifetime, so that a Trainer's policy applies to every layer.
class NoLayerPolicies {
 public:
  explicit NoLayerPolicies(const Layer& root) { clear(root.state()); }
  ~NoLayerPolicies();
  NoLayerPolicies(const NoLayerPolicies&) = delete;
  NoLayerPolicies& operator=(const NoLayerPolicies&) = delete;

 private:
  void clear(const Shared<LayerState>& state);

  std::vector<std::pair<Shared<LayerState>, Policy>> policies_;
};

}  // namespace mezzo::detail
