#include <mezzo/training/step/run_scopes.hpp>

#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/weight_access.hpp>
#include <mezzo/training/step/training_state.hpp>

namespace mezzo::detail {
namespace {

[[noreturn]] void fail_running() {
  fail<ValueError>("[Trainer]", "the model must be idle; got a call while another thread or step runs it");
}

}  // namespace

RunningScope::RunningScope(Module& module, bool alone) : module_(module) {
  std::shared_ptr<TrainingState> state;
  do {  // again if Model::compile() has replaced the state meanwhile
    state = shared_training_state(module);
    scope_.emplace();
    const bool nests = !alone && state->is_between_steps();
    if (scope_->add({{state, &state->usage}}, !nests) != nullptr) fail_running();
  } while (state != shared_training_state(module));
  add_weights();
}

void RunningScope::add_weights() {
  std::vector<RunScope::Object> weights;
  for (const Variable& weight : module_.weights()) {
    const std::shared_ptr<VariableState>& state = weight.state().pointer();
    weights.emplace_back(state, &state->usage);
  }
  if (scope_->add(weights) != nullptr) {
    fail<ValueError>(
        "[Trainer]",
        "weights of the model must be idle; got a call while another thread runs a model that shares them");
  }
}

IdleScope::IdleScope(Module& module, bool alone) {
  const std::shared_ptr<TrainingState> state = shared_training_state(module);
  state_ = state;
  std::vector<Usage*> usages = usages_of(module.weights());
  usages.push_back(&state->usage);
  scope_.emplace(std::move(usages));
  const bool nests = !alone && state->is_between_steps();
  if (scope_->refused() || (state->usage.runs_here() && !nests)) fail_running();
}

}  // namespace mezzo::detail
