#pragma once
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/loop_step.hpp>
#include <mezzo/training/custom_loops/held_optimizer.hpp>
#include <mezzo/training/step/conditional_updates.hpp>

namespace mezzo::detail {

/// An optimizer that a step of compile_step() applies.
struct LoopOptimizer {
  HeldOptimizer optimizer;
  std::int64_t accumulation_steps = 0;                    ///< when the step was traced
  bool completes_window = true;                           ///< the same
  std::vector<int> groups{};                              ///< by call of apply(): the group of its gate
  std::vector<std::shared_ptr<VariableState>> updated{};  ///< weights
};

/// The updates of a step of compile_step(), while it is traced.
class LoopUpdates final : public LoopStep {
 public:
  /// `trace` is the one of the step. `guards`: an update whose condition is false leaves the step the weights as they
  /// were, at the cost of a copy.
  LoopUpdates(Trace& trace, bool guards);

  void apply(Optimizer& optimizer, const Gradients& gradients, const UpdateTerms& terms) override;

  /// True if the step must be traced again with guards: it reads weights or moments after an update with a condition.
  bool wants_guards() const { return conditional_.read_in(trace_.graph()); }

  std::vector<LoopOptimizer>& optimizers() { return optimizers_; }

 private:
  /// A call of apply().
  struct Update {
    Optimizer& optimizer;
    const Gradients& gradients;
    const UpdateTerms& terms;
    int group = 0;
    Value condition{};  ///< of the trace; undefined if there is none
    Values values{};    ///< gradients, or their sums over a window
    Optimizer::Step step{};
  };

  std::size_t index_of(const Optimizer& optimizer);
  /// Adds the gates of the gradients, and the factor of clipping by their joint norm.
  void check(Update& update);
  /// Multiplies gradients by 1 / divisor, and by less if their joint norm is larger than the optimizer's bound.
  void unscale(Update& update, const Value& divisor, bool checks);
  /// Adds the gradients to the sums of an open window, or takes the sums of one that this step completes. True if the
  /// weights are to be updated.
  bool accumulate(Update& update);
  void write(Update& update);
  /// Adds a gate that throws an error if `ok` is false, unless the update is skipped.
  void require_finite(const Update& update, const Value& ok);

  Trace& trace_;
  bool guards_;
  int groups_ = 0;  // group 0 has no gates
  std::vector<LoopOptimizer> optimizers_;
  std::vector<Values> accepted_;  // by optimizer and call: 0 for a skipped update, 1 otherwise
  ConditionalUpdates conditional_;
};

}  // namespace mezzo::detail
