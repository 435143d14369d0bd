#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/training/model.hpp>
#include <mezzo/training/step_context.hpp>

namespace mezzo {

OptimizerConfigs Model::configure_optimizers() {
  require_compiled("fit");
  return {{.optimizer = compiled_->optimizer, .loss_scale = compiled_->loss_scale}};
}

std::pair<Value, Value> Model::targets_and_predictions(const Batch& batch) {
  const Values inputs = batch.with_role(Role::input);
  const Values targets = batch.with_role(Role::target);
  if (inputs.empty() || targets.size() != 1) {
    fail<ValueError>(label(),
                     "a batch for a compiled model must have inputs and one target; got {} inputs and {} targets",
                     inputs.size(), targets.size());
  }
  const Value prediction = (*this)(inputs).front();
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

void Model::log_metrics(const Value& y_true, const Value& y_pred) const {
  for (const auto& metric : compiled_->metrics) log(metric->name(), metric->call(y_true, y_pred), {.prog_bar = true});
}

Value Model::training_step(const Batch& batch) {
  require_compiled("fit");
  const auto [y_true, y_pred] = targets_and_predictions(batch);
  log_metrics(y_true, y_pred);
  return loss_of(y_true, y_pred, batch);
}

void Model::validation_step(const Batch& batch) {
  require_compiled("evaluate");
  const auto [y_true, y_pred] = targets_and_predictions(batch);
  log("loss", loss_of(y_true, y_pred, batch), {.prog_bar = true});
  log_metrics(y_true, y_pred);
}

}  // namespace mezzo
