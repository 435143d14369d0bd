#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <mezzo/mezzo.hpp>

namespace mezzo_tests {

// y = weight * x: a model whose steps can be calculated by hand.
inline mezzo::Sequential line(double weight) {
  mezzo::Sequential model(
      {mezzo::Dense({.units = 1, .use_bias = false, .kernel_initializer = mezzo::Constant(weight), .name = "line"})});
  model.build({1, 1});
  return model;
}

inline double weight_of(const mezzo::Layer& model) { return model.weights().at(0).value().item(); }

inline mezzo::Tensor column(const std::vector<double>& numbers) {
  return mezzo::Tensor({static_cast<std::int64_t>(numbers.size()), 1}, numbers).cast(mezzo::DType::float32);
}

inline mezzo::Dataset pairs(const std::vector<double>& x, const std::vector<double>& y) {
  return mezzo::Dataset::from_tensors({{"x", column(x)}, {"y", column(y), mezzo::Role::target}});
}

// Weight after one step of gradient descent on the mean of `factors` (w x - y)^2 over these samples.
inline double stepped(double weight, double rate, const std::vector<double>& x, const std::vector<double>& y,
                      const std::vector<double>& factors = {}) {
  double gradient = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    gradient += (factors.empty() ? 1 : factors[i]) * 2 * (weight * x[i] - y[i]) * x[i];
  }
  return weight - rate * gradient / static_cast<double>(x.size());
}

// Mean of (w x - y)^2.
inline double squared_error(double weight, const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (weight * x[i] - y[i]) * (weight * x[i] - y[i]);
  return sum / static_cast<double>(x.size());
}

}  // namespace mezzo_tests
