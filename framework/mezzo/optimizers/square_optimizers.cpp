// Optimizers that divide by sums or averages of squared gradients, without moments.
#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/optimizers/adadelta.hpp>
#include <mezzo/optimizers/adagrad.hpp>
#include <mezzo/optimizers/ftrl.hpp>
#include <mezzo/optimizers/rmsprop.hpp>

namespace mezzo {
namespace {

/// Numbers for a slot in which an optimizer sums squares.
Tensor filled(const detail::VariableState& variable, double value) {
  Tensor out = Tensor::uninitialized(variable.value.shape(), accumulation_dtype(variable.dtype()));
  if (out.dtype() == DType::float64) {
    std::fill_n(out.mutable_data<double>(), out.size(), value);
  } else {
    std::fill_n(out.mutable_data<float>(), out.size(), static_cast<float>(value));
  }
  return out;
}

}  // namespace

Adagrad::Adagrad(const AdagradOptions& options) : Optimizer("Adagrad", common_options(options)), options_(options) {
  require_wide_states("its sums");
  require_at_least_0("initial_accumulator_value", options_.initial_accumulator_value);
  require_at_least_0("epsilon", options_.epsilon);
}

Tensor Adagrad::initial_slot(const std::string& slot, const detail::VariableState& variable) const {
  if (slot != "accumulator") return Optimizer::initial_slot(slot, variable);
  return filled(variable, options_.initial_accumulator_value);
}

void Adagrad::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                          const Step& step) {
  update_by_rule(variable, gradient, step, "adagrad", {{"epsilon", options_.epsilon}});
}

Adadelta::Adadelta(const AdadeltaOptions& options) : Optimizer("Adadelta", common_options(options)), options_(options) {
  require_fraction("rho", options_.rho);
  require_at_least_0("epsilon", options_.epsilon);
}

void Adadelta::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                           const Step& step) {
  update_by_rule(variable, gradient, step, "adadelta", {{"rho", options_.rho}, {"epsilon", options_.epsilon}});
}

RMSprop::RMSprop(const RMSpropOptions& options) : Optimizer("RMSprop", common_options(options)), options_(options) {
  require_fraction("rho", options_.rho);
  require(options_.momentum >= 0 && options_.momentum <= 1,
          fmt::format("momentum must lie in [0, 1]; got {}", options_.momentum));
  require_at_least_0("epsilon", options_.epsilon);
}

std::vector<std::string> RMSprop::slot_names() const {
  std::vector<std::string> names{"velocity"};
  if (options_.momentum > 0) names.emplace_back("momentum");
  if (options_.centered) names.emplace_back("average_gradient");
  return names;
}

void RMSprop::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                          const Step& step) {
  update_by_rule(variable, gradient, step, "rmsprop",
                 {{"rho", options_.rho},
                  {"momentum", options_.momentum},
                  {"epsilon", options_.epsilon},
                  {"centered", options_.centered}});
}

Ftrl::Ftrl(const FtrlOptions& options) : Optimizer("Ftrl", common_options(options)), options_(options) {
  require_wide_states("its sums");
  require(options_.learning_rate_power <= 0,
          fmt::format("learning_rate_power must be at most 0; got {}", options_.learning_rate_power));
  require_at_least_0("initial_accumulator_value", options_.initial_accumulator_value);
  require_at_least_0("l1_regularization_strength", options_.l1_regularization_strength);
  require_at_least_0("l2_regularization_strength", options_.l2_regularization_strength);
  require_at_least_0("l2_shrinkage_regularization_strength", options_.l2_shrinkage_regularization_strength);
  require_at_least_0("beta", options_.beta);
}

Tensor Ftrl::initial_slot(const std::string& slot, const detail::VariableState& variable) const {
  if (slot != "accumulator") return Optimizer::initial_slot(slot, variable);
  return filled(variable, options_.initial_accumulator_value);
}

void Ftrl::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                       const Step& step) {
  update_by_rule(variable, gradient, step, "ftrl",
                 {{"learning_rate_power", options_.learning_rate_power},
                  {"l1", options_.l1_regularization_strength},
                  {"l2", options_.l2_regularization_strength},
                  {"shrinkage", options_.l2_shrinkage_regularization_strength},
                  {"beta", options_.beta}});
}

}  // namespace mezzo
