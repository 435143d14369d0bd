#pragma once
#include <atomic>
#include <memory>
#include <set>
#include <string>

#include <mezzo/training/step/fit_session.hpp>
#include <mezzo/training/step/plan_cache.hpp>
#include <mezzo/training/step/rank_states.hpp>
#include <mezzo/training/step/training_parts.hpp>

namespace mezzo::detail {

class MetricScope;
class StepRunner;

/// Objects of the runs that are in progress.
struct RunningFit {
  FitSession* session = nullptr;                    ///< of the running fit
  const MetricScope* set_aside = nullptr;           ///< keeps the epoch's metrics during a validation; null: none does
  std::atomic<const void*> between_steps{nullptr};  ///< key of the thread whose hooks run; null: none
  StepRunner* running = nullptr;                    ///< innermost one
  std::shared_ptr<RankStates> rank_states{};        ///< of the running fit of several ranks, and of one that failed
  bool last_of_epoch = false;                       ///< true if the next training step is the last of its epoch
};

/// Training state of a module, in parts that are saved and restored whole.
struct TrainingState final : RunState, Optimizing, Progress, FitRecord, RunningFit {
  /// True on the thread that runs the module, while hooks of callbacks run.
  bool is_between_steps() const;

  Session* session_of_hook() const override { return is_between_steps() ? session : nullptr; }
  History history_of(Module& module) const override;

  PlanCache plans;
  bool trained = false;           ///< true if last_plan is a training plan
  Policy chosen;                  ///< result of precision "auto"
  std::set<std::string> notices;  ///< those that appear once for a model, by key or text
};

/// Training state of the module; the first call makes it.
TrainingState& training_state(Module& module);
std::shared_ptr<TrainingState> shared_training_state(Module& module);

/// Makes the next call of training_state() make a new one.
void forget_training(Module& module);

}  // namespace mezzo::detail
