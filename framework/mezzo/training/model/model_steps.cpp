#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/training/model/class_targets.hpp>
#include <mezzo/training/model/model.hpp>
#include <mezzo/training/step/mean_of.hpp>
#include <mezzo/training/step/step_context.hpp>

namespace mezzo {

OptimizerConfigs Model::configure_optimizers() {
  require_compiled("fit");
  return {{.optimizer = compiled_->optimizer, .loss_scale = compiled_->loss_scale}};
}

Values Model::inputs_of(const Batch& batch) const {
  const std::vector<std::string> wanted = names_of_inputs(0);
  const std::size_t count = wanted.size();
  if (count < 2) return batch.with_role(Role::input);
  std::vector<const Batch::Entry*> fields;
  for (const Batch::Entry& entry : batch.entries()) {
    if (entry.role == Role::input) fields.push_back(&entry);
  }
  Values inputs(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = wanted[i];
    if (name.empty()) continue;
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const auto* field) { return field->name == name; });
    if (found == fields.end()) {
      std::vector<std::string> names;
      for (const auto* field : fields) names.push_back(field->name);
      fail<NameError>(label(), "a batch must have an input field for each named Input; got none for \"{}\"; fields: {}",
                      name, fmt::join(names, ", "));
    }
    inputs[i] = (*found)->value;
    fields.erase(found);
  }
  // Inputs without a name take the other fields in their order. The call rejects a wrong number of inputs.
  auto next = fields.begin();
  for (Value& input : inputs) {
    if (!input.defined() && next != fields.end()) input = (*next++)->value;
  }
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), [](const Value& v) { return !v.defined(); }), inputs.end());
  for (; next != fields.end(); ++next) inputs.push_back((*next)->value);
  return inputs;
}

Value Model::predict_step(const Batch& batch) {
  const Values inputs = inputs_of(batch);
  if ((graph_.empty() && input_names_.empty()) || inputs.empty()) return Module::predict_step(batch);
  return detail::first_output((*this)(inputs), label());
}

const detail::CompiledOutputs& Model::compiled_for(std::size_t outputs) {
  if (!outputs_ || outputs_->names.size() != outputs) {
    outputs_.emplace(*compiled_, names_of_outputs(outputs), label());
  }
  return *outputs_;
}

Values Model::targets_of(const Batch& batch, const detail::CompiledOutputs& compiled) const {
  const std::size_t count = compiled.names.size();
  std::vector<const Batch::Entry*> fields;
  std::vector<std::string> names;
  for (const Batch::Entry& entry : batch.entries()) {
    if (entry.role != Role::target) continue;
    fields.push_back(&entry);
    names.push_back(entry.name);
  }
  if (count == 1) {
    if (fields.size() == 1) return {fields.front()->value};
    if (fields.empty() && !compiled.needs_target(0) && !graph_.empty()) return Values(1);
    fail<ValueError>(label(),
                     "a batch for a compiled model must have inputs and one target; got {} inputs and {} targets",
                     batch.with_role(Role::input).size(), fields.size());
  }
  Values out(count);
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_name = [&](const auto* field) { return field->name == compiled.names[i]; };
    const auto found = std::find_if(fields.begin(), fields.end(), is_name);
    if (found != fields.end()) {
      out[i] = (*found)->value;
      ++used;
    }
  }
  // The outputs of a model that isn't functional have no names, so that the order is used.
  if (used == 0 && graph_.empty() && fields.size() == count) {
    for (std::size_t i = 0; i < count; ++i) out[i] = fields[i]->value;
    used = count;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (out[i].defined() || !compiled.needs_target(i)) continue;
    fail<NameError>(label(),
                    "a batch must have a target field for each output with a loss or metric; got none for \"{}\"; "
                    "targets: {}",
                    compiled.names[i], fmt::join(names, ", "));
  }
  if (used < fields.size()) {
    fail<NameError>(label(), "target fields must have the names of outputs, {}; got: {}",
                    fmt::join(compiled.names, ", "), fmt::join(names, ", "));
  }
  return out;
}

Values Model::weights_of(const Batch& batch, const detail::CompiledOutputs& compiled) const {
  const std::size_t count = compiled.names.size();
  std::vector<const Batch::Entry*> fields;
  std::vector<std::string> names;
  for (const Batch::Entry& entry : batch.entries()) {
    if (entry.role != Role::weight || entry.name == detail::class_weight_of_scores) continue;
    fields.push_back(&entry);
    names.push_back(entry.name);
  }
  Values out(count);
  std::size_t used = 0;
  std::vector<std::string> valid;
  for (std::size_t i = 0; i < count; ++i) {
    valid.push_back(compiled.names[i] + "_sample_weight");
    const auto is_name = [&](const auto* field) { return field->name == valid.back(); };
    const auto found = std::find_if(fields.begin(), fields.end(), is_name);
    if (found == fields.end()) continue;
    out[i] = (*found)->value;
    ++used;
  }
  if (used == 0 && fields.size() == 1) return Values(count, fields.front()->value);
  if (used < fields.size()) {
    fail<NameError>(label(), "several weight fields must have the names {}; got: {}", fmt::join(valid, ", "),
                    fmt::join(names, ", "));
  }
  return out;
}

void Model::choose_class_weights(const Batch& batch, StepValues& step) const {
  if (!batch.has(detail::class_weight_of_scores)) return;
  const Value& of_scores = batch[detail::class_weight_of_scores];
  for (std::size_t i = 0; i < step.y.size(); ++i) {
    if (!step.y[i].defined()) continue;
    Value& weight = step.sample_weight[i];
    weight = detail::chosen_class_weights(weight, of_scores, step.y[i], step.y_pred[i]);
  }
}

Model::StepValues Model::step_values(const Batch& batch) {
  StepValues step;
  step.x = inputs_of(batch);
  if (step.x.empty()) {
    fail<ValueError>(label(),
                     "a batch for a compiled model must have inputs and one target; got {} inputs and {} targets", 0,
                     batch.with_role(Role::target).size());
  }
  // Errors of the batch come before those of the call, if the outputs are known.
  if (!graph_.empty()) step.y = targets_of(batch, compiled_for(graph_.output_count()));
  if (graph_.empty() && batch.with_role(Role::target).empty()) targets_of(batch, compiled_for(1));
  step.y_pred = (*this)(step.x);
  const detail::CompiledOutputs& compiled = compiled_for(step.y_pred.size());
  step.y = targets_of(batch, compiled);
  step.sample_weight = weights_of(batch, compiled);
  choose_class_weights(batch, step);
  for (std::size_t i = 0; i < step.y_pred.size(); ++i) {
    if (compiled.losses[i]) detail::StepContext::note_prediction(step.y_pred[i]);
  }
  return step;
}

Value Model::compute_loss(const Values&, const Values& y, const Values& y_pred, const Values& sample_weight) {
  const detail::CompiledOutputs& compiled = compiled_for(y_pred.size());
  const auto trained = std::count_if(compiled.losses.begin(), compiled.losses.end(),
                                     [](const Any<Loss>& loss) { return static_cast<bool>(loss); });
  Value total;
  for (std::size_t i = 0; i < y_pred.size(); ++i) {
    if (!compiled.losses[i]) continue;
    Value loss = (*compiled.losses[i])(y[i], y_pred[i], sample_weight[i]);
    const detail::LibraryScope as_inserted;
    loss = detail::mean_of(loss);
    if (trained > 1) loss_parts_.emplace_back(compiled.names[i] + "_loss", loss);
    if (compiled.loss_weights[i] != 1) loss = loss * compiled.loss_weights[i];
    total = total.defined() ? total + loss : loss;
  }
  if (losses().empty()) {
    if (total.defined()) return total;
    fail<ValueError>(label(),
                     "compile: loss is required unless the model has a training_step() or compute_loss() of "
                     "its own, or calls add_loss(); got none");
  }
  const detail::LibraryScope as_inserted;
  return total.defined() ? total + added_loss() : added_loss();
}

Value Model::log_loss_and_metrics(const Batch& batch) {
  const StepValues step = step_values(batch);
  loss_parts_.clear();
  const Value loss = compute_loss(step.x, step.y, step.y_pred, step.sample_weight);
  const LogOptions options{.prog_bar = true, .on_epoch = true};
  log("loss", loss, options);
  for (const auto& [name, value] : loss_parts_) log(name, value, options);
  loss_parts_.clear();
  for (const auto& tracked : compiled_for(step.y_pred.size()).metrics) {
    const std::size_t i = tracked.output;
    tracked.metric->update_state(step.y[i], step.y_pred[i], tracked.weighted ? step.sample_weight[i] : Value());
    detail::StepContext::current("log()").log_running(tracked.name, tracked.metric, options);
  }
  return loss;
}

Value Model::training_step(const Batch& batch) {
  require_compiled("fit");
  return log_loss_and_metrics(batch);
}

void Model::validation_step(const Batch& batch) {
  require_compiled("evaluate");
  log_loss_and_metrics(batch);
}

}  // namespace mezzo
