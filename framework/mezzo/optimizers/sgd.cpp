#include <mezzo/optimizers/sgd.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

SGD::SGD(const SGDOptions& options)
    : Optimizer("SGD", common_options(options)), momentum_(options.momentum), nesterov_(options.nesterov) {
  require(momentum_ >= 0 && momentum_ <= 1, fmt::format("momentum must lie in [0, 1]; got {}", momentum_));
  require(!nesterov_ || momentum_ > 0, fmt::format("nesterov needs a momentum above 0; got {}", momentum_));
  require(options.state_dtype == DType::float32 || momentum_ > 0,
          fmt::format("state_dtype needs slots, so a momentum above 0; got {}", momentum_));
}

std::vector<std::string> SGD::slot_names() const {
  if (momentum_ > 0) return {"momentum"};
  return {};
}

void SGD::update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient, const Step& step) {
  update(variable, gradient, step,
         {.op = &ops::sgd_update,
          .slots = slot_names(),
          .numbers = {step.learning_rate, gradient_multiplier(gradient, step)},
          .attributes = {{"momentum", momentum_},
                         {"weight_decay", step.weight_decay},
                         {"clipvalue", common().clipvalue},
                         {"nesterov", nesterov_}}});
}

}  // namespace mezzo
