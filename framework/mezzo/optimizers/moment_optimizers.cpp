// Optimizers with averages of the gradient: variants of Adam and of momentum.
#include <mezzo/core/fail.hpp>
#include <mezzo/optimizers/adamax.hpp>
#include <mezzo/optimizers/lamb.hpp>
#include <mezzo/optimizers/lars.hpp>
#include <mezzo/optimizers/lion.hpp>
#include <mezzo/optimizers/nadam.hpp>
#include <mezzo/optimizers/schedule_free_adamw.hpp>

namespace mezzo {
namespace {

template <class Options>
Attributes moments(const Options& options) {
  return {{"beta_1", options.beta_1}, {"beta_2", options.beta_2}, {"epsilon", options.epsilon}};
}

}  // namespace

Adamax::Adamax(const AdamaxOptions& options) : Optimizer("Adamax", common_options(options)), options_(options) {
  require_moments(options_.beta_1, options_.beta_2, options_.epsilon);
}

void Adamax::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                         const Step& step) {
  update_by_rule(variable, gradient, step, "adamax", moments(options_));
}

Nadam::Nadam(const NadamOptions& options) : Optimizer("Nadam", common_options(options)), options_(options) {
  require_moments(options_.beta_1, options_.beta_2, options_.epsilon);
}

void Nadam::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                        const Step& step) {
  update_by_rule(variable, gradient, step, "nadam", moments(options_));
}

Lamb::Lamb(const LambOptions& options) : Optimizer("Lamb", common_options(options)), options_(options) {
  require_moments(options_.beta_1, options_.beta_2, options_.epsilon);
}

void Lamb::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                       const Step& step) {
  update_by_rule(variable, gradient, step, "lamb", moments(options_));
}

Lion::Lion(const LionOptions& options) : Optimizer("Lion", common_options(options)), options_(options) {
  require(options_.beta_1 > 0 && options_.beta_1 <= 1,
          fmt::format("beta_1 must lie in (0, 1]; got {}", options_.beta_1));
  require_fraction("beta_2", options_.beta_2);
}

void Lion::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                       const Step& step) {
  update_by_rule(variable, gradient, step, "lion", {{"beta_1", options_.beta_1}, {"beta_2", options_.beta_2}});
}

ScheduleFreeAdamW::ScheduleFreeAdamW(const ScheduleFreeAdamWOptions& options)
    : Optimizer("ScheduleFreeAdamW", common_options(options)), options_(options) {
  require_wide_states("its iterates");
  require(options_.beta_1 > 0 && options_.beta_1 <= 1,
          fmt::format("beta_1 must lie in (0, 1]; got {}", options_.beta_1));
  require_fraction("beta_2", options_.beta_2);
  require_at_least_0("epsilon", options_.epsilon);
  require(options_.warmup_steps >= 0, fmt::format("warmup_steps must not be negative; got {}", options_.warmup_steps));
}

Tensor ScheduleFreeAdamW::initial_slot(const std::string& slot, const detail::VariableState& variable) const {
  if (slot != "momentum") return Optimizer::initial_slot(slot, variable);
  return variable.numbers().cast(accumulation_dtype(variable.dtype()));
}

void ScheduleFreeAdamW::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                                    const Step& step) {
  Attributes numbers = moments(options_);
  numbers.set("warmup_steps", static_cast<double>(options_.warmup_steps));
  update_by_rule(variable, gradient, step, "schedule_free_adamw", numbers);
}

LARS::LARS(const LARSOptions& options) : Optimizer("LARS", common_options(options)), options_(options) {
  require(options_.momentum >= 0 && options_.momentum <= 1,
          fmt::format("momentum must lie in [0, 1]; got {}", options_.momentum));
  require(options_.trust_coefficient > 0,
          fmt::format("trust_coefficient must be above 0; got {}", options_.trust_coefficient));
  require_at_least_0("epsilon", options_.epsilon);
  require(!options_.nesterov || options_.momentum > 0,
          fmt::format("nesterov needs a momentum above 0; got {}", options_.momentum));
  require(options_.state_dtype == DType::float32 || options_.momentum > 0,
          fmt::format("state_dtype needs slots, so a momentum above 0; got {}", options_.momentum));
}

std::vector<std::string> LARS::slot_names() const {
  if (options_.momentum > 0) return {"momentum"};
  return {};
}

void LARS::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                       const Step& step) {
  update_by_rule(variable, gradient, step, "lars",
                 {{"momentum", options_.momentum},
                  {"nesterov", options_.nesterov},
                  {"epsilon", options_.epsilon},
                  {"trust", options_.trust_coefficient},
                  {"decay", step.weight_decay},
                  {"adapts", options_.always_adapt || step.weight_decay > 0},
                  {"weight_decay", 0.0}});
}

}  // namespace mezzo
