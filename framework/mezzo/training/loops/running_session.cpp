#include <mezzo/training/loops/running_session.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/module/running_hook.hpp>
#include <mezzo/training/step/optimizer_weights.hpp>
#include <mezzo/training/step/scaling_log.hpp>
#include <mezzo/training/step/step_context.hpp>
#include <mezzo/training/step/step_trials.hpp>
#include <mezzo/training/step/whole_weights.hpp>

namespace mezzo::detail {
namespace {

/// Log of a hook. `numbers` is null if the hook can't log.
class HookLog final : public RunningHook {
 public:
  HookLog(Logs& logs, std::size_t dataloader, Means* numbers)
      : logs_(logs), dataloader_(dataloader), numbers_(numbers) {}

  void log(const std::string& name, const Value& value, const LogOptions& options) override;
  std::size_t dataloader_idx() const override { return dataloader_; }

 private:
  Logs& logs_;
  std::size_t dataloader_;
  Means* numbers_;
};

void HookLog::log(const std::string& name, const Value& value, const LogOptions& options) {
  if (options.on_step || options.on_epoch || options.reduce_fx != "mean" || options.prog_bar || !options.logger) {
    fail<ValueError>("[Module]", "log(\"{}\", ...): a hook between steps logs without options; got some", name);
  }
  if (numbers_ == nullptr) {
    fail<ValueError>("[Module]",
                     "log(\"{}\", ...): must be called in a step, in a hook from on_train_epoch_start to "
                     "on_train_epoch_end, or in one of an evaluation up to on_validation_epoch_end or "
                     "on_test_epoch_end; got another hook",
                     name);
  }
  const double number = value.item();
  numbers_->set(name, number);
  logs_.set(name, number);
}

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

void require_rate(const char* call, double rate) {
  if (rate >= 0 && std::isfinite(rate)) return;
  fail<ValueError>("[Callback]", "{}: learning_rate must be a number of at least 0; got {}", call, rate);
}

}  // namespace

BetweenSteps::BetweenSteps(RunningFit& running)
    : running_(running), before_(running.between_steps.exchange(&ExecutionContext::current())) {}

RunningSession::RunningSession(const CallScope& scope, StepRunner& runner)
    : stage_(scope.stage()),
      runner_(runner),
      optimizing_(runner.state()),
      progress_(runner.state()),
      record_(runner.state()),
      running_(runner.state()),
      call_(scope.options()) {
  callbacks_ = scope.callbacks();
  const auto first = [&](const auto& condition) {
    return std::stable_partition(callbacks_.begin(), callbacks_.end(), condition);
  };
  auto late = first([](const Callback* one) { return !one->saves(); });
  if (runner.group().shared()) {
    late = first([](const Callback* one) { return !one->saves() && one->on_all_ranks(); });
  }
  late_callbacks_ = static_cast<std::size_t>(late - callbacks_.begin());
  for (Callback* callback : callbacks_) attached_.emplace_back(*callback, *this);
  if (stage_ == Stage::fit) running_.session = this;
}

int RunningSession::current_epoch() const {
  StepContext::refuse_frozen("current_epoch()", "epoch()");
  return epoch;
}

std::int64_t RunningSession::current_batch() const {
  StepContext::refuse_frozen("current_batch()", "batch_idx()");
  return batch_;
}

std::int64_t RunningSession::global_step() const {
  StepContext::refuse_frozen("global_step()", "step()");
  return progress_.updates;
}

RunningSession::~RunningSession() {
  if (stage_ == Stage::fit) running_.session = nullptr;
}

double RunningSession::seconds() const {
  return progress_.seconds + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void RunningSession::count_time() {
  const auto now = std::chrono::steady_clock::now();
  progress_.seconds += std::chrono::duration<double>(now - start_).count();
  start_ = now;
}

Means* RunningSession::numbers_of(Event event) const {
  switch (event) {
    case Event::test_begin:
    case Event::test_end:
    case Event::test_batch_begin:
    case Event::test_batch_end:
      return evaluated;
    case Event::epoch_begin:
    case Event::epoch_end:
    case Event::train_batch_begin:
    case Event::train_batch_end:
      return &record_.epoch_means;
    default:
      return nullptr;
  }
}

void RunningSession::fire(Event event, Logs& logs, std::int64_t number, const HostBatch* batch, const Logs* outputs) {
  if (is_batch(event)) batch_ = number;
  if (batch != nullptr) samples_ = batch->size;
  if (event == Event::train_batch_begin) step_ = progress_.step + 1;
  const Occurrence now{
      .event = event, .stage = stage_, .sanity = sanity, .number = number, .batch = batch, .outputs = outputs};
  const ScopedValue shown(logs_, &logs);
  const ScopedValue shown_batch(host_batch_, batch);
  const ScopedValue shown_outputs(step_outputs_, outputs);
  const ScopedValue skips(may_skip_, event == Event::train_batch_begin);
  const HookLog hook(logs, dataloader, numbers_of(event));
  const BetweenSteps between(running_);
  for (std::size_t i = 0; i < late_callbacks_; ++i) call_hook(*callbacks_[i], now, logs);
  call_hook(runner_.module(), now);
  const auto save = [&] {
    for (std::size_t i = late_callbacks_; i < callbacks_.size(); ++i) call_hook(*callbacks_[i], now, logs);
  };
  const auto& states = running_.shared_states;
  if (running_.session == this && states && states->divided(optimizing_.optimizers)) {
    states->while_saving(optimizing_.optimizers, save);
  } else {
    save();
  }
}

bool RunningSession::has_callbacks() const {
  const std::size_t of_the_loops = stage_ == Stage::fit ? 2 : 0;  // which step schedulers
  return callbacks_.size() > of_the_loops ||
         std::any_of(optimizing_.optimizers.begin(), optimizing_.optimizers.end(),
                     [](const OptimizerConfig& config) { return !config.lr_scheduler.empty(); });
}

Logs RunningSession::progress_bar_metrics() const {
  Logs out;
  if (evaluated != nullptr || stage_ == Stage::fit) {
    for (const auto& [name, number] : (evaluated != nullptr ? *evaluated : record_.epoch_means).for_bar()) {
      out.set(name, number);
    }
  }
  if (evaluated != nullptr || stage_ != Stage::fit) return out;
  ScalingLog(runner_, record_.skipped_before).write(out, record_.epoch_means);
  for (const auto& [name, number] : record_.validated) {
    if (record_.validated_in_bar.count(name) == 1) out.set(name, number);
  }
  return out;
}

Logs RunningSession::callback_metrics() const {
  Logs out;
  if (stage_ != Stage::fit) {
    if (evaluated != nullptr) evaluated->write(out);
  } else {
    for (const auto& [name, numbers] : record_.history.history) {
      if (!numbers.empty()) out.set(name, numbers.back());
    }
    record_.epoch_means.write(out);
    ScalingLog(runner_, record_.skipped_before).write(out, record_.epoch_means);
    for (const auto& [name, number] : record_.validated) out.set(name, number);
  }
  if (evaluated != nullptr && stage_ == Stage::fit) return out;  // numbers of its steps have no names in History yet
  for (const auto& [name, number] : *logs_) out.set(name, number);
  return out;
}

const HostBatch& RunningSession::batch() const {
  if (host_batch_ == nullptr) {
    fail<ValueError>("[Callback]", "batch(): must be called in a hook of batches; got a call elsewhere");
  }
  return *host_batch_;
}

const Logs& RunningSession::step_outputs() const {
  if (step_outputs_ == nullptr) {
    fail<ValueError>("[Callback]", "step_outputs(): must be called in on_train_batch_end; got a call elsewhere");
  }
  return *step_outputs_;
}

void RunningSession::skip(Skip skip, const char* call) {
  if (!may_skip_) {
    fail<ValueError>("[Callback]",
                     "{}(): must be called in on_train_batch_begin, or in on_train_batch_start of a module; got a call "
                     "elsewhere",
                     call);
  }
  skip_ = std::max(skip_, skip);
}

Skip RunningSession::take_skip() {
  const Skip own = std::exchange(skip_, Skip::none);
  if (!runner_.group().any(own != Skip::none)) return Skip::none;
  return runner_.group().any(own == Skip::epoch) ? Skip::epoch : Skip::batch;
}

void RunningSession::log_metrics(const Logs& metrics) {
  if (metrics.empty() || sanity) return;
  if (!call_.loggers.empty()) {
    for (const auto& [name, number] : metrics) logged_.set(name, number);
  }
  for (const Any<Logger>& logger : call_.loggers) logger->log_metrics(metrics, progress_.updates);
}

void RunningSession::log_evaluation_step(const Means& means, std::size_t loader, const Means::Key& key) {
  if (sanity) return;
  const bool fits = stage_ == Stage::fit;
  std::vector<std::int64_t>& batches = fits ? record_.evaluated_batches : evaluated_batches_;
  if (batches.size() <= loader) batches.resize(loader + 1);
  const std::int64_t index = batches[loader]++;
  if (call_.loggers.empty()) return;
  const Logs numbers = means.for_loggers_by_step(runner_.batch_results(), key);
  if (numbers.empty()) return;
  for (const auto& [name, number] : numbers) logged_.set(name, number);
  for (const Any<Logger>& logger : call_.loggers) logger->log_metrics(numbers, index);
}

void RunningSession::set_accumulate_grad_batches(int batches) {
  if (!accumulates) {
    fail<ValueError>("[Callback]", "set_accumulate_grad_batches: must be called in fit of a Trainer; got another call");
  }
  if (batches < 1) {
    fail<ValueError>("[Callback]", "set_accumulate_grad_batches: must be at least 1; got {}", batches);
  }
  runner_.set_accumulation(batches);
}

bool RunningSession::absorbs_non_finite(std::int64_t batch, const std::string& error) {
  const BetweenSteps between(running_);
  return std::any_of(callbacks_.begin(), callbacks_.end(),
                     [&](Callback* callback) { return callback->on_non_finite(batch, error); });
}

void RunningSession::fail_with(const std::exception& error, Logs& logs, const std::string& status) {
  const auto guarded = [](const char* what, const auto& call) {
    try {
      call();
    } catch (const std::exception& second) {
      warn(fmt::format("[{}: {}", what, second.what()));
    }
  };
  const ScopedValue last(logs_, &logs);
  const BetweenSteps between(running_);
  for (Callback* callback : callbacks_) {
    guarded("Callback] on_exception", [&] { callback->on_exception(error); });
  }
  guarded("Logger] finalize", [&] { finalize(status); });
}

void RunningSession::finalize(const std::string& status) {
  for (const Any<Logger>& logger : call_.loggers) {
    logger->save();
    logger->finalize(status);
  }
  if (call_.profiler) call_.profiler->describe();
}

void RunningSession::save_checkpoint(const std::string& path, const CheckpointOptions& options) const {
  detail::save_checkpoint(module(), path, options);
}

void RunningSession::read_weights(const std::function<void()>& read) const {
  const WholeWeights whole(module());
  read();
}

NamedCallbacks RunningSession::stateful() const {
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

std::size_t RunningSession::add_param_group(ParamGroup group) {
  const char* const where = "[Callback]";
  if (train == nullptr) fail<ValueError>(where, "add_param_group: must be called in fit; got a call elsewhere");
  if (group.weights.empty()) fail<ValueError>(where, "add_param_group: the group must have weights; got none");
  require_rate("add_param_group", group.learning_rate);
  for (const ParamGroup& other : record_.param_groups) {
    for (const Variable& weight : group.weights) {
      if (contains(other.weights, weight)) {
        fail<ValueError>(where, "add_param_group: a weight may be in one group; got \"{}\" again", weight.name());
      }
    }
  }
  if (optimizing_.configured) add_weights(optimizing_.optimizers, group);  // else when they are made, after a resume
  record_.param_groups.push_back(std::move(group));
  return record_.param_groups.size() - 1;
}

void RunningSession::set_param_group_learning_rate(std::size_t index, double rate) {
  if (index >= record_.param_groups.size()) {
    fail<ValueError>("[Callback]", "set_param_group_learning_rate: the index must be below {}; got {}",
                     record_.param_groups.size(), index);
  }
  require_rate("set_param_group_learning_rate", rate);
  record_.param_groups[index].learning_rate = rate;
}

void RunningSession::resume(const std::string& path) {
  if (!resume_from) {
    fail<ValueError>("[Callback]", "resume: must be called in on_train_begin of fit; got a call elsewhere");
  }
  runner_.group().require_alone_in("resume");
  resume_from(path);
}

void RunningSession::try_steps(std::int64_t steps, const std::function<void(std::int64_t)>& before,
                               const std::function<bool(std::int64_t, double)>& after) {
  if (train == nullptr) fail<ValueError>("[Callback]", "try_steps: must be called in fit; got a call elsewhere");
  runner_.group().require_alone_in("try_steps");
  detail::try_steps(runner_, *train, steps, before, after);
}

std::int64_t RunningSession::train_samples() const {
  if (train == nullptr) fail<ValueError>("[Callback]", "train_samples: must be called in fit; got a call elsewhere");
  return train->samples();
}

bool RunningSession::try_batch_size(std::int64_t batch_size, std::int64_t steps, std::int64_t memory_limit) {
  if (train == nullptr) fail<ValueError>("[Callback]", "try_batch_size: must be called in fit; got a call elsewhere");
  runner_.group().require_alone_in("try_batch_size");
  return detail::try_batch_size(runner_, *train, batch_size, steps, memory_limit);
}

void RunningSession::set_batch_size(std::int64_t batch_size) {
  if (!resize_batches) {
    fail<ValueError>("[Callback]", "set_batch_size: must be called in on_fit_start or on_resume; got a call elsewhere");
  }
  runner_.group().require_alone_in("set_batch_size");
  resize_batches(batch_size);
}

const std::vector<Tensor>& RunningSession::outputs() const {
  if (batch_outputs == nullptr) {
    fail<ValueError>("[Callback]", "outputs(): must be called in on_predict_batch_end; got a call elsewhere");
  }
  return *batch_outputs;
}

}  // namespace mezzo::detail
