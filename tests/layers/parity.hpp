#pragma once

#include <boost/test/unit_test.hpp>

#include <functional>
#include <map>
#include <string>

#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/gradients.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"

namespace mezzo_tests {

// Results of a layer in a trace, with gradients of sum(output * cotangent).
struct LayerRun {
  mezzo::Tensor output;
  std::vector<mezzo::Tensor> input_gradients;
  std::map<std::string, mezzo::Tensor> weight_gradients;
  std::map<std::string, mezzo::Tensor> moved;
};

inline LayerRun run_layer(mezzo::Layer& layer, const std::vector<mezzo::Tensor>& inputs, const mezzo::Tensor& cotangent,
                          bool training) {
  mezzo::Trace trace(mezzo::Trace::Mode::eager, training);
  mezzo::Values xs;
  mezzo::Values called;
  for (const mezzo::Tensor& input : inputs) {
    called.push_back(trace.input("x", input));
    if (is_floating(input.dtype())) xs.push_back(called.back());
  }
  const std::size_t differentiable = xs.size();
  const mezzo::Value output = layer(called).front();
  std::vector<std::string> names;
  for (const auto& [name, weight] : layer.named_weights()) {
    if (!weight.trainable() || !layer.trainable()) continue;
    names.push_back(name);
    xs.push_back(weight);
  }
  // A layer needn't use each weight. Keras' recorded gradient of such a weight is zeros.
  mezzo::Values gradient =
      mezzo::detail::partial_gradients(mezzo::sum(output * mezzo::Value(cotangent)), xs, mezzo::Value(1.0));
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!gradient[i].defined()) gradient[i] = mezzo::Tensor(xs[i].shape(), xs[i].dtype());
  }
  LayerRun run{.output = output.tensor(), .input_gradients = {}, .weight_gradients = {}, .moved = {}};
  for (std::size_t i = 0; i < differentiable; ++i) run.input_gradients.push_back(gradient[i].tensor());
  for (std::size_t i = 0; i < names.size(); ++i) {
    run.weight_gradients[names[i]] = gradient[differentiable + i].tensor();
  }
  for (const auto& update : trace.graph().updates) run.moved[update.variable->name] = update.value.tensor();
  return run;
}

// Compares a layer with recorded results, in float64 and float32. `tolerance`: in float64.
inline void check_layer(const nlohmann::json& expected, const std::function<mezzo::Any<mezzo::Layer>()>& make,
                        double tolerance = 1e-12) {
  const double tolerances[] = {tolerance, 2e-5};
  const mezzo::DType dtypes[] = {mezzo::DType::float64, mezzo::DType::float32};
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST_CONTEXT(mezzo::dtype_name(dtypes[i])) {
      const mezzo::detail::PolicyScope policy{mezzo::Policy(dtypes[i])};
      const mezzo::Any<mezzo::Layer> layer = make();
      std::vector<mezzo::Tensor> inputs;
      for (const auto& x : expected.at("inputs")) {
        const mezzo::Tensor input = recorded_tensor(x);
        inputs.push_back(is_floating(input.dtype()) ? input.cast(dtypes[i]) : input);
      }
      (*layer)(mezzo::Values(inputs.begin(), inputs.end()));
      const auto weights = layer->named_weights();
      BOOST_TEST_REQUIRE(weights.size() == expected.at("weights").size());
      for (std::size_t w = 0; w < weights.size(); ++w) {
        const auto& recorded_weight = expected.at("weights")[w];
        BOOST_TEST(weights[w].first == recorded_weight.at("name"));
        BOOST_TEST((weights[w].second.dtype() == dtypes[i]));
        weights[w].second.assign(recorded_tensor(recorded_weight.at("value")));
      }
      const LayerRun run = run_layer(*layer, inputs, recorded_tensor(expected.at("cotangent")).cast(dtypes[i]),
                                     expected.value("training", false));
      const auto check = [&](const std::string& what, const mezzo::Tensor& got, const nlohmann::json& wanted) {
        BOOST_TEST_CONTEXT(what) {
          BOOST_TEST((got.dtype() == dtypes[i]));
          BOOST_TEST(largest_difference(got, recorded_tensor(wanted)) <= tolerances[i]);
        }
      };
      check("output", run.output, expected.at("output"));
      BOOST_TEST_REQUIRE(run.input_gradients.size() == expected.at("input_gradients").size());
      for (std::size_t x = 0; x < run.input_gradients.size(); ++x) {
        check("gradient of input " + std::to_string(x), run.input_gradients[x], expected.at("input_gradients")[x]);
      }
      BOOST_TEST(run.weight_gradients.size() == expected.at("weight_gradients").size());
      for (const auto& [weight, gradient] : run.weight_gradients) {
        check("gradient of " + weight, gradient, expected.at("weight_gradients").at(weight));
      }
      for (const auto& [weight, value] : run.moved) check(weight, value, expected.at("moved").at(weight));
    }
  }
}

inline void check_recorded(const std::string& name, const std::function<mezzo::Any<mezzo::Layer>()>& make,
                           const std::string& file = "layers", double tolerance = 1e-12) {
  BOOST_TEST_CONTEXT(name) check_layer(recorded(file).at(name), make, tolerance);
}

// A recorded layer and how it is made here.
struct RecordedLayer {
  const char* name;
  std::function<mezzo::Any<mezzo::Layer>()> make;
};

}  // namespace mezzo_tests
