#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/innermost.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/nn/gradient.hpp>
#include <mezzo/nn/layer_state.hpp>

namespace mezzo {

class Optimizer;

namespace detail {

/// An update by Optimizer::apply(), with what a GradScaler adds.
struct UpdateTerms {
  Value condition{};          ///< bool (): false skips the update; undefined: none
  Value multiplier{};         ///< float64 (): factor of all gradients; undefined: 1
  bool checks_finite = true;  ///< false: the condition is false for gradients that are not finite
};

/// A step that compile_step() traces on this thread, as Optimizer and GradScaler reach it. Implemented by
/// training/custom_loops.
class LoopStep : public Innermost<LoopStep> {
 public:
  /// Adds the update to the step.
  virtual void apply(Optimizer& optimizer, const Gradients& gradients, const UpdateTerms& terms) = 0;

  /// Expires when the trace ends.
  std::weak_ptr<const void> identity() const { return identity_; }

  /// Throws a ValueError while a step is traced: the result of `call` would be the same in all runs of the plan. The
  /// text begins with `[owner]`. Allocates nothing otherwise.
  static void refuse_frozen(const std::string& owner, const char* call, const char* instead);

 protected:
  LoopStep() = default;
  ~LoopStep() = default;

 private:
  std::shared_ptr<const void> identity_ = std::make_shared<int>();
};

/// Collects the layers that are called outside of other layers on this thread, for its lifetime.
class CalledRoots : public Innermost<CalledRoots> {
 public:
  /// Adds a layer to the innermost collector, if there is one.
  static void note(const Shared<LayerState>& layer);

  const std::vector<Shared<LayerState>>& layers() const { return layers_; }

 private:
  std::vector<Shared<LayerState>> layers_;
};

/// Marks that this thread runs the function of value_and_grad(), in which optimizers must not update.
class DifferentiatedScope : public Innermost<DifferentiatedScope> {};

}  // namespace detail

}  // namespace mezzo
