#include <mezzo/training/loops/running_session.hpp>

#include <algorithm>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/scoped_value.hpp>

namespace mezzo::detail {
namespace {

bool is_batch(Event event) {
  switch (event) {
    case Event::train_batch_begin:
    case Event::train_batch_end:
    case Event::test_batch_begin:
    case Event::test_batch_end:
    case Event::predict_batch_begin:
    case Event::predict_batch_end:
      return true;
    default:
      return false;
  }
}

}  // namespace

BetweenSteps::BetweenSteps(TrainingState& state)
    : state_(state), before_(state.between_steps.exchange(&ExecutionContext::current())) {}

RunningSession::RunningSession(Verb verb, StepRunner& runner, const Callbacks& callbacks, const Limits& limits)
    : verb_(verb), runner_(runner), state_(training_state(runner.module())), limits_(limits) {
  for (const CallbackHandle& handle : callbacks) callbacks_.push_back(&handle.get());
  std::stable_partition(callbacks_.begin(), callbacks_.end(), [](const Callback* one) { return !one->saves(); });
  for (Callback* callback : callbacks_) attached_.emplace_back(*callback, *this);
  if (verb == Verb::fit) state_.session = this;
}

RunningSession::~RunningSession() {
  if (verb_ == Verb::fit) state_.session = nullptr;
}

void RunningSession::fire(Event event, std::int64_t number, Logs& logs) {
  if (is_batch(event)) batch_ = number;
  if (callbacks_.empty()) return;
  const ScopedValue now(logs_, &logs);
  const BetweenSteps between(state_);
  for (Callback* callback : callbacks_) call_hook(*callback, event, number, logs);
}

bool RunningSession::absorbs_non_finite(std::int64_t batch, const std::string& error) {
  const BetweenSteps between(state_);
  return std::any_of(callbacks_.begin(), callbacks_.end(),
                     [&](Callback* callback) { return callback->on_non_finite(batch, error); });
}

void RunningSession::fail_with(const std::exception& error, Logs& logs) {
  const ScopedValue last(logs_, &logs);
  const BetweenSteps between(state_);
  for (Callback* callback : callbacks_) {
    try {
      callback->on_exception(error);
    } catch (const std::exception& second) {
      warn(fmt::format("[Callback] on_exception: {}", second.what()));
    }
  }
}

std::vector<std::pair<std::string, Callback*>> RunningSession::stateful() const {
  std::vector<std::pair<std::string, Callback*>> out;
  for (Callback* callback : callbacks_) {
    const std::string name = callback->state_name();
    if (name.empty()) continue;
    const auto same = std::count_if(out.begin(), out.end(), [&](const auto& entry) {
      return entry.first == name || entry.first.rfind(name + "#", 0) == 0;
    });
    out.emplace_back(same == 0 ? name : fmt::format("{}#{}", name, same + 1), callback);
  }
  return out;
}

void RunningSession::resume(const std::string& path) {
  if (!resume_from) {
    fail<ValueError>("[Callback]", "resume: must be called in on_train_begin of fit; got a call elsewhere");
  }
  resume_from(path);
}

const std::vector<Tensor>& RunningSession::outputs() const {
  if (batch_outputs == nullptr) {
    fail<ValueError>("[Callback]", "outputs(): must be called in on_predict_batch_end; got a call elsewhere");
  }
  return *batch_outputs;
}

}  // namespace mezzo::detail
