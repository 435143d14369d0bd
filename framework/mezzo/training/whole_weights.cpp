#include <mezzo/training/whole_weights.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/step_runner.hpp>

namespace mezzo {

WholeWeights::WholeWeights(Module& module) : module_(module) {
  const detail::TrainingState& state = detail::training_state(module);
  if (!state.rank_states) return;
  if (!state.is_between_steps()) {
    fail<ValueError>("[WholeWeights]", "it must be made in a hook between two steps of fit; got a call elsewhere");
  }
  state.rank_states->begin_reading();
}

WholeWeights::~WholeWeights() {
  const detail::TrainingState& state = detail::training_state(module_);
  if (state.rank_states) state.rank_states->end_reading();
}

}  // namespace mezzo
