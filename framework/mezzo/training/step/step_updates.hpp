#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <mezzo/graph/value.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/module/session.hpp>
#include <mezzo/training/ranks/rank_step.hpp>
#include <mezzo/training/step/conditional_updates.hpp>

namespace mezzo::detail {

/// Numbers of the groups of gates and updates in a step: one for each call of minimize().
class UpdateGroups {
 public:
  explicit UpdateGroups(std::size_t optimizers) : optimizers_(optimizers) {}

  int of(std::size_t optimizer, std::size_t call) const { return static_cast<int>(optimizer + call * optimizers_); }
  std::size_t optimizer(int group) const { return static_cast<std::size_t>(group) % optimizers_; }

  /// Group of updates that the step itself leaves out when they are skipped. It has no gates.
  int guarded(std::size_t optimizer) const { return of(optimizer, no_call); }

 private:
  static constexpr std::size_t no_call = std::size_t{1} << 20U;  // more than the calls of any step

  std::size_t optimizers_;
};

/// Bound of the gradients, by the norm of all of an optimizer or by element.
struct GradientClip {
  double bound = 0;
  bool by_element = false;
};

/// How the calls of minimize() in a step make updates.
struct UpdateOptions {
  bool survey = false;                              ///< gradients, but no updates: the weights are to be found
  std::optional<GradientClip> clip{};               ///< not given: each optimizer clips by its own options
  const std::vector<ParamGroup>* groups = nullptr;  ///< weights with learning rates of their own, or null
  /// An update that is not made leaves the step the weights as they were, at the cost of a copy.
  bool guards = false;
  RankStep ranks{};  ///< ranks whose gradients are taken together
};

/// Results of the calls of minimize() in a step.
struct StepUpdates {
  explicit StepUpdates(std::size_t optimizers) : accepted(optimizers), updated(optimizers), sharded(optimizers) {}

  std::vector<Values> accepted;  ///< by optimizer and call: 0 for an update that is skipped or left out, 1 otherwise
  std::vector<std::vector<std::shared_ptr<VariableState>>> updated;  ///< by optimizer
  std::vector<RankShards::Variables> sharded;  ///< by optimizer, weights that one rank updates for all
  Value last_reduced;                          ///< by the ranks, in this step
  bool decided = false;                        ///< true if the module decides about an update by a Value
  ConditionalUpdates conditional;              ///< without guards, those that are not made in each run
};

}  // namespace mezzo::detail
