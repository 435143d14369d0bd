#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/training/model.hpp>
#include <mezzo/training/step_context.hpp>

namespace mezzo {

Value Module::training_step(const Batch&) {
  throw ValueError(label() + " override training_step, or compile() a Model");
}

void Module::validation_step(const Batch&) { throw ValueError(label() + " override validation_step"); }

Value Module::predict_step(const Batch& batch) {
  const Values inputs = batch.with_role(Role::input);
  if (inputs.empty()) throw ValueError(label() + " predict: the batch has no input field");
  return (*this)(inputs).front();
}

OptimizerConfigs Module::configure_optimizers() { return {}; }

OptimizerConfigs Model::configure_optimizers() {
  require_compiled("fit");
  return {{compiled_.optimizer, {}, {}, compiled_.loss_scale}};
}

std::pair<Value, Value> Model::targets_and_predictions(const Batch& batch) {
  const Values inputs = batch.with_role(Role::input);
  const Values targets = batch.with_role(Role::target);
  if (inputs.empty() || targets.size() != 1) {
    throw ValueError(label() + " a compiled model needs batches of inputs and one target; got " +
                     std::to_string(inputs.size()) + " inputs and " + std::to_string(targets.size()) + " targets");
  }
  const Value prediction = (*this)(inputs).front();
  detail::StepContext::note_prediction(prediction);
  return {targets.front(), prediction};
}

Value Model::loss_of(const Value& y_true, const Value& y_pred, const Batch& batch) const {
  const Value loss = compiled_.loss->call(y_true, y_pred);
  const Values weights = batch.with_role(Role::weight);
  if (weights.empty()) return loss;
  if (weights.front().shape() != loss.shape()) {
    throw ShapeError(label() + " sample_weight must have shape " + to_string(loss.shape()) + ", as the loss has; got " +
                     to_string(weights.front().shape()));
  }
  const LibraryScope as_inserted;
  return loss * cast(weights.front(), loss.dtype());
}

void Model::log_metrics(const Value& y_true, const Value& y_pred) const {
  for (const auto& metric : compiled_.metrics) log(metric->name(), metric->call(y_true, y_pred), {.prog_bar = true});
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
