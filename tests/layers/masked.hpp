#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/training/model/model.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"

namespace mezzo_tests {

inline mezzo::Tensor floats(const mezzo::Shape& shape, const std::vector<double>& numbers) {
  return mezzo::Tensor(shape, numbers).cast(mezzo::DType::float32);
}

inline mezzo::Value bools(const mezzo::Shape& shape, const std::vector<double>& numbers) {
  return mezzo::Tensor(shape, numbers).cast(mezzo::DType::boolean);
}

/// Arrays that models of tests/parity/masks.py were trained on.
inline mezzo::Tensor mask_data(const char* name) { return recorded_tensor(recorded("masks").at("data").at(name)); }

// The history and the prediction of a model that was trained for 4 steps from the recorded weights.
inline void check_training(const std::string& name, mezzo::Model& model, const mezzo::Tensors& x,
                           const mezzo::Tensor& y, const mezzo::TrainOnBatchOptions& options = {}) {
  const nlohmann::json& expected = recorded("masks").at(name);
  std::vector<mezzo::Tensor> weights;
  for (const auto& weight : expected.at("weights")) weights.push_back(recorded_tensor(weight));
  model.set_weights(weights);
  for (const auto& step : expected.at("history")) {
    mezzo::Logs logs = model.train_on_batch(x, y, options);
    for (const auto& [key, value] : step.items()) {
      BOOST_TEST(std::abs(logs[key] - value.get<double>()) <= 1e-5 * std::max(1.0, std::abs(value.get<double>())),
                 name << " " << key << ": " << logs[key] << " " << value);
    }
  }
  BOOST_TEST(largest_difference(model.predict(x), recorded_tensor(expected.at("prediction"))) <= 2e-5);
}

// Compares a call of a layer on inputs with masks to what tests/parity/masks.py recorded: outputs, the mask of the
// first, gradients and moved variables, in float64 and float32.
template <class L>
void check_masked(const std::string& name, const std::function<L()>& make,
                  const std::function<mezzo::Values(L&, const mezzo::Values&)>& call, bool training = false) {
  using mezzo::DType, mezzo::Policy, mezzo::detail::PolicyScope, mezzo::Tensor, mezzo::Trace, mezzo::Value,
      mezzo::Values;
  using mezzo::Variable;
  const nlohmann::json& expected = recorded("masks").at(name);
  const double tolerances[] = {1e-12, 2e-5};
  const DType dtypes[] = {DType::float64, DType::float32};
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST_CONTEXT(name << " in " << dtype_name(dtypes[i])) {
      const auto check = [&](const std::string& what, const Value& got, const nlohmann::json& wanted) {
        BOOST_TEST_CONTEXT(what) {
          BOOST_TEST((got.dtype() == dtypes[i]));
          BOOST_TEST(largest_difference(got.tensor(), recorded_tensor(wanted)) <= tolerances[i]);
        }
      };
      const PolicyScope policy{Policy(dtypes[i])};
      L layer = make();
      const auto give = [&](const std::function<Value(const Tensor&)>& value) {
        Values xs;
        for (std::size_t k = 0; k < expected.at("inputs").size(); ++k) {
          const Tensor x = recorded_tensor(expected.at("inputs")[k]);
          const nlohmann::json& mask = expected.at("masks")[k];
          const Value input = value(is_floating(x.dtype()) ? x.cast(dtypes[i]) : x);
          xs.push_back(mask.is_null() ? input : input.with_mask(recorded_tensor(mask).cast(DType::boolean)));
        }
        return xs;
      };
      call(layer, give([](const Tensor& x) { return Value(x); }));
      const std::vector<Variable> weights = layer.weights();
      BOOST_TEST_REQUIRE(weights.size() == expected.at("weights").size());
      for (std::size_t w = 0; w < weights.size(); ++w) weights[w].assign(recorded_tensor(expected.at("weights")[w]));

      Trace trace(Trace::Mode::eager, training);
      const Values xs = give([&](const Tensor& x) { return trace.input("x", x); });
      const Values out = call(layer, xs);
      BOOST_TEST_REQUIRE(out.size() == expected.at("outputs").size());
      for (std::size_t k = 0; k < out.size(); ++k) check("output", out[k], expected.at("outputs")[k]);
      const nlohmann::json& mask = expected.at("mask");
      BOOST_TEST(out[0].mask().defined() == !mask.is_null());
      if (out[0].mask().defined() && !mask.is_null()) {
        BOOST_TEST(out[0].mask().tensor().equal(recorded_tensor(mask).cast(DType::boolean)));
      }
      Values by;
      for (const Value& x : xs) {
        if (is_floating(x.dtype())) by.push_back(x);
      }
      const std::size_t inputs = by.size();
      for (const Variable& weight : layer.trainable_weights()) by.push_back(weight);
      if (by.empty()) return;
      const Value cotangent = recorded_tensor(expected.at("cotangent")).cast(dtypes[i]);
      const Values gradient = gradients(sum(out[0] * cotangent), by);
      BOOST_TEST_REQUIRE(by.size() - inputs == expected.at("weight_gradients").size());
      for (std::size_t k = 0; k < by.size(); ++k) {
        const bool of_input = k < inputs;
        const auto& all = expected.at(of_input ? "input_gradients" : "weight_gradients");
        check("gradient " + std::to_string(k), gradient[k], all[of_input ? k : k - inputs]);
      }
      const auto& updates = trace.graph().updates;
      BOOST_TEST_REQUIRE(updates.size() == expected.at("moved").size());
      for (std::size_t k = 0; k < updates.size(); ++k) check("moved", updates[k].value, expected.at("moved")[k]);
    }
  }
}

}  // namespace mezzo_tests
