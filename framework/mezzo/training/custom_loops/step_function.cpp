#include <mezzo/training/custom_loops/step_function.hpp>

#include <algorithm>
#include <chrono>

#include <mezzo/core/contention.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/training/custom_loops/loop_plan.hpp>

namespace mezzo {
namespace {

constexpr const char* step_label = "[compile_step]";

}  // namespace

struct StepFunction::State {
  State(Function traced, const CompileStepOptions& given) : function(std::move(traced)), options(given) {
    numbers.stream = detail::next_stream();
    own.emplace_back(std::shared_ptr<detail::Usage>(), &usage);
  }

  detail::LoopPlan& plan_for();
  void make_room();

  Function function;
  CompileStepOptions options;
  detail::LoopNumbers numbers;
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  std::vector<std::unique_ptr<detail::LoopPlan>> plans;  // in the order of their last use
  std::vector<Tensor> inputs;
  bool running = false;
  detail::Usage usage;
  std::vector<detail::RunScope::Object> own;  // `usage`
};

detail::LoopPlan& StepFunction::State::plan_for() {
  const auto found = std::find_if(plans.rbegin(), plans.rend(), [&](const auto& plan) { return plan->fits(inputs); });
  if (found != plans.rend()) {
    std::rotate(found.base() - 1, found.base(), plans.end());
    return *plans.back();
  }
  auto plan = std::make_unique<detail::LoopPlan>(function, inputs, options.training, arena);
  make_room();
  plans.push_back(std::move(plan));
  return *plans.back();
}

void StepFunction::State::make_room() {
  const auto most = static_cast<std::size_t>(options.plans > 0 ? options.plans : plan_cache_size());
  while (!plans.empty() && plans.size() >= most) plans.erase(plans.begin());
}

StepFunction::StepFunction(Function function, const CompileStepOptions& options) {
  if (!function) fail<ValueError>(step_label, "function must be callable; got an empty one");
  if (options.plans < 0) fail<ValueError>(step_label, "plans must be at least 0; got {}", options.plans);
  state_ = std::make_shared<State>(std::move(function), options);
}

const std::vector<Tensor>& StepFunction::operator()(const std::vector<detail::StepInput>& inputs) {
  State& state = *state_;
  if (Trace::current() != nullptr || detail::LoopStep::innermost() != nullptr) {
    fail<ValueError>(step_label,
                     "a step must be called outside of other steps and of differentiated functions; got a call inside "
                     "of one: call the function itself there");
  }
  const detail::ListRunScope alone(state.own);
  if (alone.busy() != nullptr || state.running) {
    fail<ValueError>(step_label, "a step must be idle; got a call while it runs: make a step for each thread");
  }
  const ScopedValue<bool> running(state.running, true);
  state.inputs.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) state.inputs[i] = inputs[i].tensor();
  detail::LoopPlan& plan = state.plan_for();
  const detail::ListRunScope variables(plan.objects());
  if (variables.busy() != nullptr) {
    fail<ValueError>(step_label,
                     "variables of the step must be idle; got a call while another thread runs a model "
                     "that shares them");
  }
  detail::Contention& contention = detail::Contention::of_thread();
  const bool adapts = adaptive_threads();
  const detail::ThreadLimit threads(contention.threads(adapts));
  const auto start = std::chrono::steady_clock::now();
  plan.run(state.inputs, state.numbers);
  contention.step_done(std::chrono::steady_clock::now() - start, adapts);
  ++state.numbers.steps;
  return plan.outputs();
}

std::int64_t StepFunction::steps() const { return state_->numbers.steps; }

void StepFunction::set_steps(std::int64_t steps) {
  if (steps < 0) fail<ValueError>(step_label, "set_steps: steps must be at least 0; got {}", steps);
  state_->numbers.steps = steps;
}

std::size_t StepFunction::plans() const { return state_->plans.size(); }

detail::LoopNumbers& StepFunction::numbers() const { return state_->numbers; }

StepFunction compile_step(std::function<Values(const Values&)> function, const CompileStepOptions& options) {
  return {std::move(function), options};
}

StepFunction compile_step(std::function<Value(const Values&)> function, const CompileStepOptions& options) {
  if (!function) fail<ValueError>(step_label, "function must be callable; got an empty one");
  return {[f = std::move(function)](const Values& xs) { return Values{f(xs)}; }, options};
}

}  // namespace mezzo
