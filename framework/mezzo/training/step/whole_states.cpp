#include <mezzo/training/step/whole_states.hpp>

#include <mezzo/training/step/training_state.hpp>

namespace mezzo::detail {

WholeStates::WholeStates(Module& module) : optimizers_(training_state(module).optimizers) {
  const RunningFit& running = training_state(module);
  if (!running.shared_states || !running.shared_states->divided(optimizers_)) return;
  running.shared_states->begin_save(optimizers_);
  divided_ = running.shared_states.get();
}

WholeStates::~WholeStates() {
  if (divided_ != nullptr) divided_->end_save(optimizers_);
}

}  // namespace mezzo::detail
