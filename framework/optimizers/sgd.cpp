#include <mezzo/optimizers/sgd.hpp>

#include <mezzo/optimizers/detail/clip.hpp>

namespace mezzo {

SGD::SGD(const SGDOptions& options)
    : Optimizer("SGD", {.learning_rate = options.learning_rate,
                        .weight_decay = options.weight_decay,
                        .clipnorm = options.clipnorm,
                        .clipvalue = options.clipvalue,
                        .global_clipnorm = options.global_clipnorm}),
      momentum_(options.momentum),
      nesterov_(options.nesterov) {
  require(momentum_ >= 0 && momentum_ <= 1, "momentum must lie in [0, 1]; got " + std::to_string(momentum_));
  require(!nesterov_ || momentum_ > 0, "nesterov needs a momentum above 0");
}

void SGD::apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) {
  Values inputs{read_variable(variable), gradient};
  std::shared_ptr<VariableState> buffer;
  if (momentum_ > 0) {
    buffer = slot(variable, 0, "momentum");
    inputs.push_back(read_variable(buffer));
  }
  inputs.push_back(step.learning_rate);
  inputs.push_back(detail::gradient_multiplier(common(), gradient, step));
  const Values out = insert(find_op("sgd_update"), inputs,
                            {{"momentum", momentum_},
                             {"weight_decay", common().weight_decay},
                             {"clipvalue", common().clipvalue},
                             {"nesterov", nesterov_}});
  update_variable(variable, out[0]);
  if (buffer) update_variable(buffer, out[1]);
}

}  // namespace mezzo
