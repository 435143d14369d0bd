#pragma once

#include <memory>
#include <vector>

#include <mezzo/graph/op_registry.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo_tests {

using States = std::vector<std::shared_ptr<mezzo::detail::VariableState>>;

// Makes one step outside of a plan. `gradients` are those of a backward pass that was seeded with `scale`.
inline void step(mezzo::Optimizer& optimizer, const States& variables, const std::vector<mezzo::Tensor>& gradients,
                 double scale) {
  const auto multiplier_of = [](double divisor, const mezzo::Values& all, double clipnorm) {
    mezzo::Values operands{mezzo::Value(mezzo::Tensor::scalar(divisor, mezzo::DType::float64))};
    operands.insert(operands.end(), all.begin(), all.end());
    return mezzo::insert(mezzo::find_op("gradient_multiplier"), operands, {{"clipnorm", clipnorm}}).front();
  };
  const mezzo::OptimizerCommon& common = optimizer.common();
  const bool accumulates = common.gradient_accumulation_steps > 0;
  mezzo::Values all(gradients.begin(), gradients.end());
  mezzo::Value multiplier = multiplier_of(scale, all, accumulates ? 0 : common.global_clipnorm);
  if (!optimizer.completes_window()) {
    for (std::size_t i = 0; i < variables.size(); ++i) optimizer.accumulate(variables[i], all[i], multiplier);
    optimizer.count_step();
    return;
  }
  if (accumulates) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      all[i] = optimizer.accumulated(variables[i], all[i], multiplier);
    }
    multiplier = multiplier_of(static_cast<double>(common.gradient_accumulation_steps), all, common.global_clipnorm);
  }
  const auto count = static_cast<double>(optimizer.iterations() + 1);
  const mezzo::Optimizer::Step numbers{
      .learning_rate = mezzo::Tensor::scalar(optimizer.learning_rate(), mezzo::DType::float64),
      .count = mezzo::Tensor::scalar(count, mezzo::DType::float64),
      .multiplier = multiplier};
  for (std::size_t i = 0; i < variables.size(); ++i) optimizer.apply(variables[i], all[i], numbers);
  optimizer.count_step();
}

}  // namespace mezzo_tests
