#include <mezzo/training/custom_loops/loop_checkpoint.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/file_formats.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/checkpoints/optimizer_sections.hpp>
#include <mezzo/training/custom_loops/loop_parts.hpp>
#include <mezzo/training/custom_loops/loop_plan.hpp>

namespace mezzo {
namespace {

constexpr const char* loop_label = "[LoopCheckpoint]";

template <class Part>
void check_part_name(const std::vector<std::pair<std::string, Part>>& parts, const std::string& name,
                     const char* kind) {
  const auto same = [&](const auto& part) { return part.first == name; };
  if (std::any_of(parts.begin(), parts.end(), same)) {
    fail<ValueError>(loop_label, "add: names of {} must differ; got \"{}\" twice", kind, name);
  }
  if (name.find('.') != std::string::npos) {
    fail<ValueError>(loop_label, "add: a name must have no dot; got \"{}\"", name);
  }
}

/// Throws a ValueError if an optimizer has states of a weight that is not saved.
void check_optimizer_weights(const OptimizerConfig& config, const std::vector<detail::FileWeight>& weights) {
  for (const Optimizer::Slots& slots : config.optimizer->state()->slots) {
    const auto same = [&](const detail::FileWeight& weight) { return weight.variable.id() == slots.variable.get(); };
    if (std::any_of(weights.begin(), weights.end(), same)) continue;
    fail<ValueError>(loop_label, "save: optimizer \"{}\" has moments of \"{}\"; got no model with that weight: add it",
                     config.name, slots.variable->name);
  }
}

}  // namespace

struct LoopCheckpoint::Parts : detail::LoopParts {};

std::string detail::loop_format::scaler_key(const std::string& scaler, const char* what) {
  return scaler.empty() ? fmt::format("scaler.{}", what) : fmt::format("scaler.{}.{}", scaler, what);
}

std::string detail::loop_format::step_key(const std::string& step, const char* what) {
  return step.empty() ? fmt::format("step.{}", what) : fmt::format("step.{}.{}", step, what);
}

std::vector<detail::FileWeight> detail::LoopParts::weights() const {
  std::vector<FileWeight> out;
  for (const auto& [model, state] : models) {
    std::vector<FileWeight> own = file_weights(*state).weights;
    if (own.empty()) fail<ValueError>(loop_label, "model \"{}\" must be built; got one without weights", model);
    for (FileWeight& weight : own) {
      if (!model.empty()) weight.names = {fmt::format("{}.{}", model, weight.name())};
      out.push_back(std::move(weight));
    }
  }
  for (const auto& [name, variable] : variables) {
    if (!variable.filled()) fail<ValueError>(loop_label, "variable \"{}\" must have numbers; got none", name);
    FileWeight weight{.names = {name}, .variable = variable, .axes = {}, .merged = {}};
    for (std::size_t i = 0; i < variable.shape().size(); ++i) weight.axes.push_back(static_cast<std::int64_t>(i));
    out.push_back(std::move(weight));
  }
  return out;
}

LoopCheckpoint::LoopCheckpoint() : parts_(std::make_shared<Parts>()) {}

LoopCheckpoint& LoopCheckpoint::add(const std::string& name, const Layer& model) {
  check_part_name(parts_->models, name, "models");
  parts_->models.emplace_back(name, model.state());
  return *this;
}

LoopCheckpoint& LoopCheckpoint::add(const std::string& name, const Variable& variable) {
  check_part_name(parts_->variables, name, "variables");
  if (name.empty()) fail<ValueError>(loop_label, "add: a variable must have a name; got \"\"");
  parts_->variables.emplace_back(name, variable);
  return *this;
}

LoopCheckpoint& LoopCheckpoint::add(const std::string& name, const Any<Optimizer>& optimizer) {
  std::vector<std::pair<std::string, Any<Optimizer>>> all;
  for (const OptimizerConfig& config : parts_->optimizers) all.emplace_back(config.name, config.optimizer);
  check_part_name(all, name, "optimizers");
  parts_->optimizers.push_back({.optimizer = optimizer, .name = name});
  return *this;
}

LoopCheckpoint& LoopCheckpoint::add(const std::string& name, const GradScaler& scaler) {
  check_part_name(parts_->scalers, name, "scalers");
  parts_->scalers.emplace_back(name, scaler);
  return *this;
}

LoopCheckpoint& LoopCheckpoint::add(const std::string& name, const StepFunction& step) {
  check_part_name(parts_->steps, name, "steps");
  parts_->steps.emplace_back(name, step);
  return *this;
}

void LoopCheckpoint::save(const std::string& path) const {
  namespace names = detail::checkpoint_format;
  namespace own = detail::loop_format;
  detail::check_suffix(path, detail::FileKind::safetensors,
                       "[LoopCheckpoint] save:", ".ckpt, or have a suffix of its own");
  const std::vector<detail::FileWeight> weights = parts_->weights();
  NamedTensors tensors;
  Metadata metadata{{names::format, detail::file_formats::loop},
                    {names::format_version, own::version},
                    {names::seed, fmt::to_string(seed())}};
  for (const detail::FileWeight& weight : weights) {
    tensors.emplace_back(names::weight_key(weight.name()),
                         weight.in_file(detail::whole_weight(*weight.variable.state(), parts_->optimizers)));
    for (const OptimizerConfig& config : parts_->optimizers) detail::add_slots(config, weight, false, tensors);
  }
  for (const OptimizerConfig& config : parts_->optimizers) {
    check_optimizer_weights(config, weights);
    detail::add_optimizer_numbers(config, metadata);
  }
  for (const auto& [name, scaler] : parts_->scalers) {
    const GradScalerState state = scaler.state();
    metadata[own::scaler_key(name, own::scale)] = fmt::format("{}", state.scale);
    metadata[own::scaler_key(name, own::growth_tracker)] = fmt::to_string(state.growth_tracker);
  }
  for (const auto& [name, step] : parts_->steps) {
    metadata[own::step_key(name, own::steps)] = fmt::to_string(step.numbers().steps);
    metadata[own::step_key(name, own::stream)] = fmt::to_string(step.numbers().stream);
  }
  save_safetensors(path, tensors, metadata);
}

void LoopCheckpoint::load(const std::string& path) const { detail::load_loop(*parts_, path); }

}  // namespace mezzo
