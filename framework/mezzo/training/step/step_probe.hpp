#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <mezzo/data/batch.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo {

/// A training step that was computed node by node, for reports.
struct ProbedStep {
  Value loss;          ///< mean of the loss, a scalar; the sum of all losses if the step calls minimize() itself
  Values predictions;  ///< arguments of a compiled Model's loss, without the target
};

/// Computes a training step under a Trainer's policy, with the random numbers of step 0, in an eager trace. Calls
/// `read` while the trace is open, so that `read` can append gradients. Nothing is updated, but weights are converted
/// to the dtypes of the policy, as in a run. Throws the errors of training.
void probe_step(Module& module, const HostBatch& batch, const Policy& policy,
                const std::function<void(const ProbedStep&)>& read);

/// Training steps to be timed.
struct StepToTime {
  Policy policy{};              ///< policy of a Trainer; with one that inherits, each layer keeps its own
  bool layers_inherit = false;  ///< true: ignores the policies of layers
};

/// Times of a training step: medians over rounds in which several policies take turns. 0: the rounds don't agree on
/// the time, or there was only one.
struct StepTimes {
  double seconds = 0;                    ///< seconds of a step
  std::map<std::string, double> layers;  ///< seconds of the kernels of a layer, by path
};

/// Times training steps on the batch, with optimizers that begin without state. Calls `reset` before each round.
/// Precision "auto" times its policies in the same way. `steps` is the number of timed steps for each entry of `all`,
/// at least 1. Non-finite numbers neither stop the steps nor cause warnings.
std::vector<StepTimes> time_steps(Module& module, const HostBatch& batch, const std::vector<StepToTime>& all, int steps,
                                  const std::function<void()>& reset);

}  // namespace mezzo
