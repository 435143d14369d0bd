#include <mezzo/training/module/module.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/module/running_hook.hpp>
#include <mezzo/training/module/saved_hyperparameters.hpp>
#include <mezzo/training/module/session.hpp>
#include <mezzo/training/module/traced_step.hpp>

namespace mezzo {

namespace detail {
namespace {

/// Session of the fit whose hook this thread runs. A ValueError with that text if there is none.
Session& session_of_hook(const Module& module, const std::string& label, const char* text) {
  const auto state = run_state_of(module);
  Session* const session = state ? state->session_of_hook() : nullptr;
  if (session == nullptr) fail<ValueError>(label, "{}; got a call outside of fit", text);
  return *session;
}

}  // namespace
}  // namespace detail

Value Module::training_step(const Batch&) {
  fail<ValueError>(label(), "training_step must be overridden, or the module be a compiled Model; got neither");
}

void Module::validation_step(const Batch&) {
  fail<ValueError>(label(), "validation_step must be overridden; got the default of Module");
}

Value Module::predict_step(const Batch& batch) {
  const Values inputs = batch.with_role(Role::input);
  if (inputs.empty()) {
    std::vector<std::string> names;
    for (const Batch::Entry& entry : batch.entries()) names.push_back(entry.name);
    fail<ValueError>(label(), "predict: the batch must have an input field; got fields: {}", fmt::join(names, ", "));
  }
  return detail::first_output((*this)(inputs), label());
}

OptimizerConfigs Module::configure_optimizers() { return {}; }

bool Module::configure_gradient_clipping(Gradients&, const OptimizerHandle&, std::optional<double>,
                                         const std::string&) {
  return false;
}

void Module::clip_gradients(Gradients& gradients, double gradient_clip_val,
                            const std::string& gradient_clip_algorithm) {
  const char* const where = "[Module] clip_gradients:";
  const double bound = gradient_clip_val;
  if (!(bound > 0 && std::isfinite(bound))) {
    fail<ValueError>(where, "gradient_clip_val must be a finite number above 0; got {}", bound);
  }
  if (gradient_clip_algorithm != "norm" && gradient_clip_algorithm != "value") {
    fail_unknown(where, "gradient_clip_algorithm", gradient_clip_algorithm, {"norm", "value"});
  }
  if (gradients.empty()) return;
  const auto wide = [](const Value& x) { return cast(x, accumulation_dtype(x.dtype())); };
  if (gradient_clip_algorithm == "value") {
    for (Gradient& gradient : gradients) gradient.value = clip(wide(gradient.value), -bound, bound);
    return;
  }
  Value squares;
  for (const Gradient& gradient : gradients) {
    const Value own = sum(square(wide(gradient.value)));
    squares = squares.defined() ? squares + own : own;
  }
  const Value norm = sqrt(squares);
  const Value scale = mezzo::where(norm > bound, bound / norm, 1.0);
  for (Gradient& gradient : gradients)
    gradient.value = wide(gradient.value) * cast(scale, wide(gradient.value).dtype());
}

std::vector<detail::CallbackHandle> Module::configure_callbacks() { return {}; }

void Module::save_hyperparameters(const Hyperparameters& parameters) {
  for (const auto& [name, value] : parameters) {
    if (name.empty()) fail<ValueError>(label(), "save_hyperparameters: names must not be empty; got an empty one");
    const auto same = std::find_if(hyperparameters_.begin(), hyperparameters_.end(),
                                   [&, &key = name](const auto& entry) { return entry.first == key; });
    if (same == hyperparameters_.end()) {
      hyperparameters_.emplace_back(name, value);
    } else {
      same->second = value;
    }
  }
}

void Module::load_values(Module& module, const std::string& path) {
  if (const auto values = detail::saved_module_values(path)) module.on_load_checkpoint(*values);
}

void Module::warn_of_ignored_hyperparameters(const Module& module, const std::string& path) {
  if (!detail::has_saved_hyperparameters(path)) return;
  std::vector<std::string> ignored;
  const Hyperparameters& own = module.hyperparameters();
  for (const auto& saved : detail::saved_hyperparameters(path)) {
    if (std::find(own.begin(), own.end(), saved) != own.end()) continue;
    ignored.push_back(
        std::visit([&, &name = saved.first](const auto& value) { return fmt::format("{} = {}", name, value); },
                   saved.second.value()));
  }
  if (ignored.empty()) return;
  detail::warn(
      fmt::format("{} load_from_checkpoint: \"{}\" has hyperparameters that the default-constructed module does not "
                  "have: {}; give the class a constructor from Hyperparameters, or pass its arguments",
                  module.label(), path, fmt::join(ignored, ", ")));
}

std::shared_ptr<detail::RunState> detail::run_state_of(const Module& module) {
  const std::lock_guard<std::mutex> lock(run_state_mutex());
  return module.run_state();
}

void Module::stop_training() {
  detail::session_of_hook(*this, label(), "stop_training: a callback must call it during fit").stop();
}

void Module::skip_batch() {
  detail::session_of_hook(*this, label(), "skip_batch: on_train_batch_start must call it during fit").skip_batch();
}

void Module::skip_epoch() {
  detail::session_of_hook(*this, label(), "skip_epoch: on_train_batch_start must call it during fit").skip_epoch();
}

History Module::history() {
  const auto state = detail::run_state_of(*this);
  return state ? state->history_of(*this) : History();
}

void Module::log(const std::string& name, const Value& value, const LogOptions& options) {
  if (detail::TracedStep::innermost() == nullptr) {
    if (auto* const hook = detail::RunningHook::innermost()) return hook->log(name, value, options);
  }
  detail::TracedStep::current("log()").log(name, value, options);
}

void Module::log_dict(const std::vector<std::pair<std::string, Value>>& values, const LogOptions& options) {
  for (const auto& [name, value] : values) log(name, value, options);
}

void Module::log_metric(const std::string& name, const Any<Metric>& metric, const LogOptions& options) {
  detail::TracedStep::current("log()").log_metric(name, metric, options);
}

std::size_t Module::dataloader_idx() {
  if (detail::TracedStep::innermost() == nullptr) {
    if (const auto* const hook = detail::RunningHook::innermost()) return hook->dataloader_idx();
  }
  return detail::TracedStep::current("dataloader_idx()").dataloader_idx();
}

Value Module::batch_idx() { return detail::TracedStep::current("batch_idx()").batch_idx(); }

OptimizerHandle Module::optimizer(const std::string& name) {
  return detail::TracedStep::current("optimizer()").optimizer(name);
}

void Module::minimize(const Value& loss, const OptimizerHandle& optimizer) {
  detail::TracedStep::current("minimize()").minimize(loss, optimizer);
}

}  // namespace mezzo
