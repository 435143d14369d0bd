#include <mezzo/training/step/whole_weights.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/step/training_state.hpp>

namespace mezzo {

WholeWeights::WholeWeights(Module& module) : states_(detail::training_state(module).shared_states) {
  if (!states_) return;
  if (!detail::training_state(module).is_between_steps()) {
    fail<ValueError>("[WholeWeights]", "it must be made in a hook between two steps of fit; got a call elsewhere");
  }
  states_->begin_reading();
}

WholeWeights::~WholeWeights() {
  if (states_) states_->end_reading();
}

}  // namespace mezzo
