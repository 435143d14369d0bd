#include <mezzo/training/step/training_state.hpp>

#include <mezzo/training/step/run_scopes.hpp>

namespace mezzo::detail {

std::shared_ptr<TrainingState> shared_training_state(Module& module) {
  const std::lock_guard<std::mutex> lock(run_state_mutex());
  if (!module.run_state()) module.set_run_state(std::make_shared<TrainingState>());
  return std::static_pointer_cast<TrainingState>(module.run_state());
}

TrainingState& training_state(Module& module) { return *shared_training_state(module); }

void forget_training(Module& module) {
  const std::lock_guard<std::mutex> lock(run_state_mutex());
  module.set_run_state(nullptr);
}

bool is_running(const Module& module) {
  const auto state = std::static_pointer_cast<TrainingState>(module.run_state());
  return state && state->running != nullptr;
}

History TrainingState::history_of(Module& module) const {
  const IdleScope idle(module, false);
  return history;
}

}  // namespace mezzo::detail
