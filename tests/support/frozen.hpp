#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/compiler/inference/freeze.hpp>
#include <mezzo/training/module/inference_graph.hpp>
#include <mezzo/training/module/module.hpp>

#include "support/runs.hpp"
#include "support/tensors.hpp"

namespace mezzo_tests {

// Positive numbers for all weights, so that variances are valid and scales are not 1.
inline void set_positive_weights(mezzo::Module& module) {
  std::uint64_t seed = 3;
  std::vector<mezzo::Tensor> arrays;
  for (const mezzo::Tensor& weight : module.get_weights()) {
    const bool kernel = weight.shape().size() > 1;
    arrays.push_back(mezzo::is_floating(weight.dtype()) ? random_tensor(weight.shape(), weight.dtype(), ++seed,
                                                                        kernel ? -0.25 : 0.5, kernel ? 0.25 : 1)
                                                        : weight);
  }
  module.set_weights(arrays);
}

// Compares the module's frozen graph with its traced graph: largest differences as fractions of the largest number of
// each output.
inline void check_frozen_module(mezzo::Module& module, const TensorList& inputs, double tolerance) {
  std::vector<mezzo::Spec> specs;
  for (const mezzo::Tensor& input : inputs) specs.push_back({input.shape(), input.dtype()});
  const mezzo::Graph traced = mezzo::detail::inference_graph(module, specs);
  mezzo::detail::FrozenConstants constants;
  const mezzo::Graph frozen = mezzo::detail::freeze(traced, constants);
  BOOST_TEST(count_nodes(frozen, "variable") == 0);
  const TensorList expected = run_compiled(traced, inputs), results = run_compiled(frozen, inputs);
  BOOST_TEST_REQUIRE(expected.size() == results.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double largest = 1;
    for (const double number : expected[i].to_doubles()) {
      if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
    }
    BOOST_TEST((expected[i].dtype() == results[i].dtype()));
    BOOST_TEST(largest_difference(results[i], expected[i]) <= tolerance * largest,
               "output " << i << ": " << largest_difference(results[i], expected[i]) / largest);
  }
}

}  // namespace mezzo_tests
