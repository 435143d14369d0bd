#include <mezzo/optimizers/adam.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/optimizers/adamw.hpp>

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
  require(beta_1_ >= 0 && beta_1_ < 1, fmt::format("beta_1 must lie in [0, 1); got {}", beta_1_));
  require(beta_2_ >= 0 && beta_2_ < 1, fmt::format("beta_2 must lie in [0, 1); got {}", beta_2_));
  require(epsilon_ >= 0, fmt::format("epsilon must not be negative; got {}", epsilon_));
}

void Adam::apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) {
  update(variable, gradient, step,
         {.op = &ops::adam_update,
          .numbers = {step.learning_rate, step.count, gradient_multiplier(gradient, step)},
          .attributes = {{"beta_1", beta_1_},
                         {"beta_2", beta_2_},
                         {"epsilon", epsilon_},
                         {"weight_decay", common().weight_decay},
                         {"clipvalue", common().clipvalue}}});
}

AdamW::AdamW(const AdamWOptions& options)
    : Adam("AdamW", {.learning_rate = options.learning_rate,
                     .beta_1 = options.beta_1,
                     .beta_2 = options.beta_2,
                     .epsilon = options.epsilon,
                     .weight_decay = options.weight_decay,
                     .clipnorm = options.clipnorm,
                     .clipvalue = options.clipvalue,
                     .global_clipnorm = options.global_clipnorm,
                     .split_master_weights = options.split_master_weights,
                     .stochastic_rounding = options.stochastic_rounding,
                     .kahan_summation = options.kahan_summation,
                     .state_dtype = options.state_dtype}) {}

}  // namespace mezzo
