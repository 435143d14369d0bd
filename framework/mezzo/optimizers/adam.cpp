#include <mezzo/optimizers/adam.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/optimizers/adamw.hpp>

namespace mezzo {

Adam::Adam(std::string kind, OptimizerCommon common, const Rule& rule)
    : Optimizer(std::move(kind), std::move(common)), rule_(rule) {
  require_moments(rule_.beta_1, rule_.beta_2, rule_.epsilon);
}

Adam::Adam(const AdamOptions& options)
    : Adam("Adam", common_options(options), {options.beta_1, options.beta_2, options.epsilon, options.amsgrad}) {}

std::vector<std::string> Adam::slot_names() const {
  if (rule_.amsgrad) return {"momentum", "velocity", "velocity_hat"};
  return {"momentum", "velocity"};
}

void Adam::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                       const Step& step) {
  const Attributes numbers{{"beta_1", rule_.beta_1}, {"beta_2", rule_.beta_2}, {"epsilon", rule_.epsilon}};
  if (rule_.amsgrad) {
    update_by_rule(variable, gradient, step, "amsgrad", numbers);
    return;
  }
  Attributes attributes = numbers;
  attributes.set("weight_decay", step.weight_decay);
  attributes.set("clipvalue", common().clipvalue);
  update(variable, gradient, step,
         {.op = &ops::adam_update,
          .slots = slot_names(),
          .numbers = {step.learning_rate, step.count, gradient_multiplier(gradient, step)},
          .attributes = std::move(attributes)});
}

AdamW::AdamW(const AdamWOptions& options)
    : Adam("AdamW", common_options(options), {options.beta_1, options.beta_2, options.epsilon, options.amsgrad}) {}

}  // namespace mezzo
