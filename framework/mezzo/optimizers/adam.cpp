#include <mezzo/optimizers/adam.hpp>

#include <mezzo/ops/op_set.hpp>
#include <mezzo/optimizers/clip.hpp>

namespace mezzo {

Adam::Adam(std::string kind, const AdamOptions& options)
    : Optimizer(std::move(kind), {.learning_rate = options.learning_rate,
                                  .weight_decay = options.weight_decay,
                                  .clipnorm = options.clipnorm,
                                  .clipvalue = options.clipvalue,
                                  .global_clipnorm = options.global_clipnorm,
                                  .split_master_weights = options.split_master_weights,
                                  .stochastic_rounding = options.stochastic_rounding,
                                  .kahan_summation = options.kahan_summation,
                                  .state_dtype = options.state_dtype}),
      beta_1_(options.beta_1),
      beta_2_(options.beta_2),
      epsilon_(options.epsilon) {
  require(beta_1_ >= 0 && beta_1_ < 1, "beta_1 must lie in [0, 1); got " + std::to_string(beta_1_));
  require(beta_2_ >= 0 && beta_2_ < 1, "beta_2 must lie in [0, 1); got " + std::to_string(beta_2_));
  require(epsilon_ >= 0, "epsilon must not be negative; got " + std::to_string(epsilon_));
}

void Adam::apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) {
  update(variable, gradient, step,
         {&ops::adam_update,
          {step.learning_rate, step.count, detail::gradient_multiplier(common(), gradient, step)},
          {{"beta_1", beta_1_},
           {"beta_2", beta_2_},
           {"epsilon", epsilon_},
           {"weight_decay", common().weight_decay},
           {"clipvalue", common().clipvalue}}});
}

}  // namespace mezzo
