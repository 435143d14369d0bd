#pragma once

#include <memory>
#include <vector>

#include <mezzo/graph/op_registry.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo_tests {

using States = std::vector<std::shared_ptr<mezzo::VariableState>>;

// Makes one step outside of a plan. `gradients` are those of a backward pass that was seeded with `scale`.
inline void step(mezzo::Optimizer& optimizer, const States& variables, const std::vector<mezzo::Tensor>& gradients,
                 double scale) {
  mezzo::Values operands{mezzo::Value(mezzo::Tensor::scalar(scale, mezzo::DType::float64))};
  for (const mezzo::Tensor& gradient : gradients) operands.emplace_back(gradient);
  const mezzo::Value multiplier =
      mezzo::insert(mezzo::find_op("gradient_multiplier"), operands, {{"clipnorm", optimizer.common().global_clipnorm}})
          .front();
  const auto count = static_cast<double>(optimizer.iterations() + 1);
  const mezzo::Optimizer::Step numbers{
      .learning_rate = mezzo::Tensor::scalar(optimizer.learning_rate(), mezzo::DType::float64),
      .count = mezzo::Tensor::scalar(count, mezzo::DType::float64),
      .multiplier = multiplier};
  for (std::size_t i = 0; i < variables.size(); ++i) optimizer.apply(variables[i], gradients[i], numbers);
  ++optimizer.state()->iterations;
}

}  // namespace mezzo_tests
