#include <mezzo/training/step/run_scopes.hpp>

#include <thread>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/weight_access.hpp>
#include <mezzo/training/step/training_state.hpp>

namespace mezzo::detail {
namespace {

[[noreturn]] void fail_running() {
  fail<ValueError>("[Trainer]",
                   "the model must be idle; got a call while another thread or step runs it: wait for its end, call it "
                   "in a callback, or predict by model.predictor()");
}

[[noreturn]] void fail_shared() {
  fail<ValueError>("[Trainer]",
                   "weights of the model must be idle; got a call while another thread runs a model that shares them");
}

}  // namespace

RunningScope::RunningScope(Module& module, bool alone) : module_(module) {
  std::shared_ptr<TrainingState> state;
  bool running = false;
  do {
    state = shared_training_state(module);
    scope_.reset();
    turn_ = std::make_unique<RunTurn>(alone);
    const auto objects = [&] {
      RunTurn::Objects all{&state->usage};
      for (const Variable& weight : module.weights()) all.push_back(&weight.state()->usage);
      return all;
    };
    const Usage* const refused = turn_->wait_for(state->usage, objects);
    if (refused == &state->usage) fail_running();
    if (refused != nullptr) fail_shared();
    running = run({state, &state->usage}, turn_->visits() || (!alone && state->is_between_steps()));
    // Again if Model::compile() has replaced the state meanwhile, or if another thread was faster.
  } while (!running || state != shared_training_state(module));
}

bool RunningScope::run(const RunScope::Object& state, bool nests) {
  scope_.emplace();
  if (scope_->add({state}, !nests) != nullptr) {
    if (state->runs_here()) fail_running();
  } else if (try_weights()) {
    turn_->add({state.get()});
    return true;
  }
  std::this_thread::yield();
  return false;
}

bool RunningScope::try_weights() {
  std::vector<RunScope::Object> weights;
  RunTurn::Objects objects;
  for (const Variable& weight : module_.weights()) {
    const std::shared_ptr<VariableState>& state = weight.state().pointer();
    weights.emplace_back(state, &state->usage);
    objects.push_back(&state->usage);
  }
  if (scope_->add(weights) != nullptr) return false;
  turn_->add(objects);
  return true;
}

void RunningScope::add_weights() {
  if (!try_weights()) fail_shared();
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
