#include <mezzo/training/module/module.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/checkpoints/checkpoint_sections.hpp>
#include <mezzo/training/loops/running_session.hpp>
#include <mezzo/training/step/step_context.hpp>

namespace mezzo {

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
  return detail::StepContext::note_outputs((*this)(inputs), label());
}

OptimizerConfigs Module::configure_optimizers() { return {}; }

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

void Module::warn_of_ignored_hyperparameters(const Module& module, const std::string& path) {
  if (SafetensorsFile(path).metadata().count(detail::checkpoint_format::hyperparameters) == 0) return;
  Hyperparameters ignored;
  const Hyperparameters& own = module.hyperparameters();
  for (const auto& saved : detail::saved_hyperparameters(path)) {
    if (std::find(own.begin(), own.end(), saved) == own.end()) ignored.push_back(saved);
  }
  if (ignored.empty()) return;
  detail::warn(
      fmt::format("{} load_from_checkpoint: \"{}\" has hyperparameters that the default-constructed module does not "
                  "have: {}; give the class a constructor from Hyperparameters, or pass its arguments",
                  module.label(), path, detail::text_of(ignored)));
}

void Module::stop_training() {
  const auto state = detail::shared_training_state(*this);
  if (!state->is_between_steps() || state->session == nullptr) {
    fail<ValueError>(label(), "stop_training: a callback must call it during fit; got a call outside of fit");
  }
  state->session->stop();
}

History Module::history() {
  const detail::IdleScope idle(*this, false);
  return detail::training_state(*this).history;
}

void Module::log(const std::string& name, const Value& value, const LogOptions& options) {
  if (!detail::StepContext::active() && detail::RunningSession::log_in_hook(name, value, options)) return;
  detail::StepContext::current("log()").log(name, value, options);
}

void Module::log_dict(const std::vector<std::pair<std::string, Value>>& values, const LogOptions& options) {
  for (const auto& [name, value] : values) log(name, value, options);
}

void Module::log_metric(const std::string& name, const Any<Metric>& metric, const LogOptions& options) {
  detail::StepContext::current("log()").log(name, metric, options);
}

std::size_t Module::dataloader_idx() {
  if (!detail::StepContext::active()) {
    if (const auto index = detail::RunningSession::dataloader_in_hook()) return *index;
  }
  return detail::StepContext::current("dataloader_idx()").dataloader_idx();
}

Value Module::batch_idx() { return detail::StepContext::current("batch_idx()").batch_idx(); }

OptimizerHandle Module::optimizer(const std::string& name) {
  return detail::StepContext::current("optimizer()").optimizer(name);
}

void Module::minimize(const Value& loss, const OptimizerHandle& optimizer) {
  detail::StepContext::current("minimize()").minimize(loss, optimizer);
}

}  // namespace mezzo
