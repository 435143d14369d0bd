#pragma once
#include <functional>
#include <memory>

#include <mezzo/data/batch.hpp>
#include <mezzo/training/module.hpp>

namespace mezzo {

/// A training step that was computed node by node, for reports.
struct ProbedStep {
  Value loss;          ///< mean of the loss, a scalar; the sum of all losses if the step calls minimize() itself
  Values predictions;  ///< of a compiled Model: the loss's arguments other than the target
};

/// Computes a training step under a Trainer's policy, with the random numbers of step 0, in an eager trace. Calls
/// `read` while the trace is open, so that `read` can append gradients. Nothing is updated, but weights are converted
/// to the dtypes of the policy, as in a run. Throws the errors of training.
void probe_step(Module& module, const HostBatch& batch, const Policy& policy,
                const std::function<void(const ProbedStep&)>& read);

/// Trains on the batch for 1 + `steps` steps, with optimizers that begin without state, and returns the plan with its
/// profile. Non-finite numbers neither stop the steps nor cause warnings.
std::shared_ptr<const Plan> time_steps(Module& module, const HostBatch& batch, const Policy& policy, int steps);

}  // namespace mezzo
