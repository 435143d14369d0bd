#pragma once
#include <functional>
#include <memory>

#include <mezzo/data/batch.hpp>
#include <mezzo/training/module.hpp>

namespace mezzo {

/// What reports see of a training step that was computed node by node.
struct ProbedStep {
  Value loss;          ///< its mean, a scalar; the sum of them all where the step calls minimize() itself
  Values predictions;  ///< of a compiled Model: what the loss is computed from, beside the target
};

/// Computes a training step under a Trainer's policy, with the random numbers of step 0, in an eager trace that `read`
/// finds open: it may append gradients. Nothing is updated, but weights are converted to the dtypes that the policy
/// asks for, as a run does. Errors are those of training. Implemented by training/.
void probe_step(Module& module, const HostBatch& batch, const Policy& policy,
                const std::function<void(const ProbedStep&)>& read);

/// Trains on the batch, by optimizers that begin without state, `steps` times and once before, and returns the plan
/// with its profile. No step is refused or warned of for numbers that aren't finite. Implemented by training/.
std::shared_ptr<const Plan> time_steps(Module& module, const HostBatch& batch, const Policy& policy, int steps);

}  // namespace mezzo
