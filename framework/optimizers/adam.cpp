#include <mezzo/optimizers/adam.hpp>

#include <mezzo/optimizers/detail/clip.hpp>

namespace mezzo {

Adam::Adam(std::string kind, const AdamOptions& options)
    : Optimizer(std::move(kind), {.learning_rate = options.learning_rate,
                                  .weight_decay = options.weight_decay,
                                  .clipnorm = options.clipnorm,
                                  .clipvalue = options.clipvalue,
                                  .global_clipnorm = options.global_clipnorm}),
      beta_1_(options.beta_1),
      beta_2_(options.beta_2),
      epsilon_(options.epsilon) {
  require(beta_1_ >= 0 && beta_1_ < 1, "beta_1 must lie in [0, 1); got " + std::to_string(beta_1_));
  require(beta_2_ >= 0 && beta_2_ < 1, "beta_2 must lie in [0, 1); got " + std::to_string(beta_2_));
  require(epsilon_ >= 0, "epsilon must not be negative; got " + std::to_string(epsilon_));
}

void Adam::apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) {
  const auto m = slot(variable, 0, "momentum");
  const auto v = slot(variable, 1, "velocity");
  const Values out = insert(find_op("adam_update"),
                            {read_variable(variable), gradient, read_variable(m), read_variable(v), step.learning_rate,
                             step.count, detail::gradient_multiplier(common(), gradient, step)},
                            {{"beta_1", beta_1_},
                             {"beta_2", beta_2_},
                             {"epsilon", epsilon_},
                             {"weight_decay", common().weight_decay},
                             {"clipvalue", common().clipvalue}});
  update_variable(variable, out[0]);
  update_variable(m, out[1]);
  update_variable(v, out[2]);
}

}  // namespace mezzo
