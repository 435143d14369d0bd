#include <mezzo/optimizers/adafactor.hpp>

#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

Adafactor::Adafactor(const AdafactorOptions& options)
    : Optimizer("Adafactor", common_options(options)), options_(options) {
  for (const auto& [option, value] :
       {std::pair("beta_2_decay", options_.beta_2_decay), std::pair("clip_threshold", options_.clip_threshold)}) {
    require(std::isfinite(value), fmt::format("{} must be finite; got {}", option, value));
  }
  require(options_.beta_2_decay < 0, fmt::format("beta_2_decay must be below 0; got {}", options_.beta_2_decay));
  require_at_least_0("epsilon_1", options_.epsilon_1);
  require_at_least_0("epsilon_2", options_.epsilon_2);
  require(options_.clip_threshold > 0, fmt::format("clip_threshold must be above 0; got {}", options_.clip_threshold));
}

Shape Adafactor::slot_shape(const std::string& slot, const Shape& variable) const {
  Shape shape = variable;
  if (slot != "velocity" && shape.size() >= 2) shape.erase(shape.end() - (slot == "row" ? 1 : 2));
  return shape;
}

bool Adafactor::needs_slot(const std::string& slot, const Shape& variable) const {
  return (slot == "velocity") == (variable.size() < 2);
}

void Adafactor::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                            const Step& step) {
  const bool factored = variable->value.shape().size() >= 2;
  update(variable, gradient, step,
         {.op = &ops::adafactor_update,
          .slots = factored ? std::vector<std::string>{"row", "column"} : std::vector<std::string>{"velocity"},
          .numbers = {step.learning_rate, step.count, gradient_multiplier(gradient, step)},
          .attributes = {{"beta_2_decay", options_.beta_2_decay},
                         {"epsilon_1", options_.epsilon_1},
                         {"epsilon_2", options_.epsilon_2},
                         {"clip_threshold", options_.clip_threshold},
                         {"relative_step", options_.relative_step},
                         {"weight_decay", step.weight_decay},
                         {"clipvalue", common().clipvalue}}});
}

}  // namespace mezzo
