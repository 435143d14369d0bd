#pragma once

#include <functional>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/recorded.hpp"
#include "support/tensors.hpp"

namespace mezzo_tests {

// Recorded arrays from `begin` on.
inline std::vector<mezzo::Tensor> recorded_list(const nlohmann::json& arrays, std::size_t begin, std::size_t count) {
  std::vector<mezzo::Tensor> out;
  for (std::size_t i = begin; i < begin + count; ++i) out.push_back(recorded_tensor(arrays.at(i)));
  return out;
}

// Two dense layers with tanh between them, with the four recorded weights from `begin` on.
inline mezzo::Sequential recorded_network(const nlohmann::json& arrays, std::size_t begin = 0) {
  const std::vector<mezzo::Tensor> weights = recorded_list(arrays, begin, 4);
  mezzo::Sequential model({mezzo::Dense({.units = weights[0].shape()[1], .activation = "tanh"}),
                           mezzo::Dense({.units = weights[2].shape()[1]})});
  model.build({-1, weights[0].shape()[0]});
  model.set_weights(weights);
  return model;
}

inline void check_weights(const mezzo::Layer& model, const nlohmann::json& arrays, std::size_t begin = 0) {
  const std::vector<mezzo::Tensor> weights = recorded_list(arrays, begin, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(largest_difference(model.weights()[i].value(), weights[i]) < 1e-5, "weight " << i);
  }
}

// One of the arrays along axis 0.
inline mezzo::Tensor entry(const mezzo::Tensor& all, std::int64_t i) {
  return mezzo::Value(all)(static_cast<int>(i)).tensor();
}

// A step as compile_step() makes it, or the function itself.
class Loop {
 public:
  Loop(bool compiled, std::function<mezzo::Values(const mezzo::Values&)> function) : function_(std::move(function)) {
    if (compiled) step_.emplace(mezzo::compile_step(function_));
  }

  std::vector<double> operator()(const std::vector<mezzo::Tensor>& inputs) {
    std::vector<double> out;
    if (step_) {
      for (const mezzo::Tensor& y : (*step_)({inputs.begin(), inputs.end()})) out.push_back(y.item());
      return out;
    }
    for (const mezzo::Value& y : function_(mezzo::Values(inputs.begin(), inputs.end()))) out.push_back(y.item());
    return out;
  }

 private:
  std::function<mezzo::Values(const mezzo::Values&)> function_;
  std::optional<mezzo::StepFunction> step_;
};

}  // namespace mezzo_tests
