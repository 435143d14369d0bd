#pragma once
#include <memory>

#include <mezzo/training/step/notices.hpp>
#include <mezzo/training/step/plan_cache.hpp>
#include <mezzo/training/step/running_fit.hpp>
#include <mezzo/training/step/training_parts.hpp>

namespace mezzo::detail {

/// Training state of a module, in parts that are saved and restored whole. Functions take the parts that they need.
struct TrainingState final : RunState, Optimizing, Progress, FitRecord, RunningFit {
  Session* session_of_hook() const override { return is_between_steps() ? session : nullptr; }
  History history_of(Module& module) const override;

  PlanCache plans;
  bool trained = false;  ///< true if last_plan is a training plan
  Policy chosen;         ///< result of precision "auto"
  Notices notices;
};

/// Training state of the module; the first call makes it.
TrainingState& training_state(Module& module);
std::shared_ptr<TrainingState> shared_training_state(Module& module);

/// True while a step or a loop of steps runs the module.
bool is_running(const Module& module);

/// Makes the next call of training_state() make a new one.
void forget_training(Module& module);

}  // namespace mezzo::detail
