#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/training/model.hpp>
#include <mezzo/training/step_context.hpp>

namespace mezzo {

OptimizerConfigs Model::configure_optimizers() {
  require_compiled("fit");
  return {{.optimizer = compiled_->optimizer, .loss_scale = compiled_->loss_scale}};
}

Values Model::inputs_of(const Batch& batch) const {
  const std::size_t count = graph_.empty() ? 0 : graph_.input_count();
  if (count < 2) return batch.with_role(Role::input);
  std::vector<const Batch::Entry*> fields;
  for (const Batch::Entry& entry : batch.entries()) {
    if (entry.role == Role::input) fields.push_back(&entry);
  }
  Values inputs(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = graph_.input_name(i);
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
  if (graph_.empty() || inputs.empty()) return Module::predict_step(batch);
  return detail::one_output((*this)(inputs), label(), "predict");
}

std::pair<Value, Value> Model::targets_and_predictions(const Batch& batch) {
  const Values inputs = inputs_of(batch);
  const Values targets = batch.with_role(Role::target);
  if (inputs.empty() || targets.size() != 1) {
    fail<ValueError>(label(),
                     "a batch for a compiled model must have inputs and one target; got {} inputs and {} targets",
                     inputs.size(), targets.size());
  }
  const Value prediction = detail::one_output((*this)(inputs), label(), "a compiled model");
  detail::StepContext::note_prediction(prediction);
  return {targets.front(), prediction};
}

Value Model::loss_of(const Value& y_true, const Value& y_pred, const Batch& batch) const {
  const Value loss = compiled_->loss->call(y_true, y_pred);
  const Values weights = batch.with_role(Role::weight);
  if (weights.empty()) return loss;
  const Value& weight = weights.front();
  if (weight.shape() != loss.shape()) {
    fail<ShapeError>(label(), "sample_weight must have the shape of the loss, {}; got shape {}", loss.shape(),
                     weight.shape());
  }
  const LibraryScope as_inserted;
  return loss * cast(weight, loss.dtype());
}

Value Model::with_added_losses(const Value& loss) const {
  if (losses().empty()) return loss;
  const LibraryScope as_inserted;
  return detail::mean_of(loss) + added_loss();
}

void Model::log_metrics(const Value& y_true, const Value& y_pred) const {
  for (const auto& metric : compiled_->metrics) log(metric->name(), metric->call(y_true, y_pred), {.prog_bar = true});
}

Value Model::training_step(const Batch& batch) {
  require_compiled("fit");
  const auto [y_true, y_pred] = targets_and_predictions(batch);
  log_metrics(y_true, y_pred);
  return with_added_losses(loss_of(y_true, y_pred, batch));
}

void Model::validation_step(const Batch& batch) {
  require_compiled("evaluate");
  const auto [y_true, y_pred] = targets_and_predictions(batch);
  log("loss", with_added_losses(loss_of(y_true, y_pred, batch)), {.prog_bar = true});
  log_metrics(y_true, y_pred);
}

}  // namespace mezzo
