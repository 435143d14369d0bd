#include <mezzo/optimizers/adamw.hpp>

namespace mezzo {

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
