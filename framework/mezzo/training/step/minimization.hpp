#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/graph/trace.hpp>
#include <mezzo/training/step/step_updates.hpp>
#include <mezzo/training/step/trained_weights.hpp>

namespace mezzo::detail {

/// One call of Module::minimize() in a traced step: an update of the weights of one optimizer, in six phases.
class Minimization {
 public:
  Minimization(Module& module, const OptimizerConfigs& optimizers, const UpdateOptions& options, StepUpdates& updates,
               const OptimizerHandle& handle);

  /// Adds the update by the gradient of the mean of `loss` to the running trace. Errors are those of
  /// Module::minimize().
  void run(const Value& loss);

 private:
  // The phases, in their order.

  /// Finds the weights that the loss reads, and their gradients, times the loss scale if there is one.
  void differentiate(const Value& loss);
  /// Takes gradients, sums of a window and the loss of all ranks together. Shows the module its gradients.
  void reduce();
  /// Adds the gates of the update: the loss and all gradients must be finite.
  void gate();
  /// Adds the condition of optimizer_step() as a gate, if the module has one.
  void ask_module();
  /// Adds the gradients to the sums of an open window, or takes the sums of one that this step completes.
  void accumulate();
  /// Clips the gradients and updates the weights.
  void apply();

  /// True if the window of accumulated gradients stays open: nothing is updated.
  bool adds() const { return accumulates_ && !completes_; }
  /// True if the sums of a window are those over the window and the ranks at once.
  bool summed() const { return options_.ranks && accumulates_ && completes_; }
  /// True if the gradients are of this step alone although a window has more.
  bool partial() const { return accumulates_ && !summed(); }

  /// Throws a ValueError if the optimizer can't make several updates in a step.
  void require_repeatable() const;
  /// Drops weights without gradient. A ValueError if the loss reads a weight as it was before an earlier update by this
  /// optimizer, or at two times.
  void keep_differentiated();
  void note_updated();
  /// Replaces gradients by means over the samples of all ranks, and adds `sums` if there are any. Keeps those of this
  /// rank's weights under shards. Returns the mean loss; undefined under shards.
  Value reduce_over(const Values& sums);
  void add_gate(const Value& ok, const char* error);
  void add_gate_of_gradients(const Value& ok);
  /// Multiplies gradients by 1 / divisor, and more if their joint norm is larger than `bound`, unless that is 0.
  void unscale(const Value& divisor, double bound);
  /// Lets on_before_optimizer_step() see the gradients of the mean loss and replace them.
  void show_final_gradients();
  void clip_elements();
  /// Learning rate of a weight: that of its group, else that of the optimizer.
  Value rate_of(const std::shared_ptr<VariableState>& variable, const Value& otherwise) const;
  /// True in steps that make the update; undefined: always.
  Value made() const;
  /// Notes the result of the call: 1, or 0 if the update is not made.
  void accept(const Value& accepted) { updates_.accepted[index_].push_back(accepted); }

  Module& module_;
  const OptimizerConfigs& optimizers_;
  const UpdateOptions& options_;
  StepUpdates& updates_;
  OptimizerHandle handle_;
  std::size_t index_, call_;  // of the optimizer; of its calls in this step
  const OptimizerConfig& config_;
  Optimizer& optimizer_;
  Trace& trace_;
  UpdateGroups groups_;
  bool scaled_, accumulates_, completes_;
  bool clipped_ = false;  // by the module
  double clipnorm_, headroom_;

  Value loss_;       // mean
  Value scale_;      // of the loss; 1 without one
  Value unscaling_;  // factor of what the ranks send; undefined if they send scaled gradients
  std::vector<TrainedWeight> weights_;
  std::vector<std::string> paths_;
  Values gradients_;  // of weights_
  RankChecks checks_;
  Value good_;       // all gates, under a loss scale
  Value condition_;  // of the module
  Value divisor_;    // of the gradients, in the update
  Optimizer::Step step_;
};

}  // namespace mezzo::detail
