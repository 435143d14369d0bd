#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/mezzo.hpp>

#include "layers/float8.hpp"
#include "support/recorded.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::vector<Any<Layer>> layers_of(const std::string& name) {
  if (name.rfind("Dense", 0) == 0) return {Dense({.units = 7, .activation = "relu"}), Dense({.units = 3})};
  if (name == "EinsumDense heads") {
    return {EinsumDense({.equation = "abc,cde->abde", .output_shape = {-1, 2, 3}, .bias_axes = "de"})};
  }
  if (name == "EinsumDense joined") {
    return {EinsumDense({.equation = "abcd,cde->abe", .output_shape = {-1, 5}, .bias_axes = "e"})};
  }
  if (name == "EinsumDense transposed") return {EinsumDense({.equation = "ab,cb->ac", .output_shape = {5}})};
  return {EinsumDense({.equation = "abc,bcd->abd", .output_shape = {3, 4}})};
}

std::vector<double> history_of(const nlohmann::json& entries) {
  std::vector<double> out(1024);
  for (const auto& entry : entries) out[entry.at(0).get<std::size_t>()] = entry.at(1).get<double>();
  return out;
}

// A Dense(1) without bias with the kernel (1, 0.5) and the input scale 1/4.
Dense two_inputs(const Policy& policy = "float8_from_float32") {
  Dense layer({.units = 1, .use_bias = false, .dtype = policy});
  layer.build({-1, 2});
  float8_weight(layer, "kernel").assign(Tensor({2, 1}, std::vector<double>{1, 0.5}));
  float8_weight(layer, "inputs_scale").assign(Tensor::scalar(0.25));
  return layer;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(float8_products)

BOOST_AUTO_TEST_CASE(trained_weights_scales_and_outputs_are_those_of_keras) {
  for (const auto& [name, entry] : recorded("float8").items()) {
    BOOST_TEST_CONTEXT(name) {
      const std::string policy = entry.at("policy");
      const bool exact = policy == "float32";
      const double bound = exact ? 1e-5 : 3e-2;
      // Changes of inputs by half a bit of bfloat16 move these numbers of Keras itself by 0.05.
      const double bound_after = exact ? 1e-5 : 0.1;
      const Tensor x = recorded_tensor(entry.at("x")), y = recorded_tensor(entry.at("target"));
      Sequential model({Input({.shape = Shape(x.shape().begin() + 1, x.shape().end())})}, {.dtype = policy});
      for (const Any<Layer>& layer : layers_of(name)) model.add(layer);
      std::vector<Tensor> weights;
      for (const auto& weight : entry.at("weights")) weights.push_back(recorded_tensor(weight));
      model.set_weights(weights);
      model.quantize("float8");
      BOOST_TEST(model.layers()[0]->dtype_policy().name() == "float8_from_" + policy);
      BOOST_TEST(largest_difference(model.predict(x), recorded_tensor(entry.at("before"))) < bound);
      model.compile({.optimizer = SGD(0.125), .loss = "mse"});
      for (std::size_t step = 0; step < entry.at("losses").size(); ++step) {
        const Tensor grown = (Value(x) * (1 + 0.75 * static_cast<double>(step))).tensor();
        const double loss = model.train_on_batch(grown, y)["loss"], expected = entry.at("losses")[step];
        BOOST_TEST(std::abs(loss - expected) < bound * std::max(1.0, expected));
      }
      BOOST_TEST(largest_difference(model.predict(x), recorded_tensor(entry.at("after"))) < bound_after);
      for (std::size_t place = 0; place < model.layers().size(); ++place) {
        const auto named = model.layers()[place]->named_weights();
        for (const auto& [path, weight] : named) {
          const auto& expected = entry.at(std::to_string(place) + "/" + path);
          const bool history = path.find("history") != std::string::npos;
          const std::vector<double> numbers = history ? history_of(expected) : recorded_tensor(expected).to_doubles();
          const std::vector<double> got = weight.value().to_doubles();
          BOOST_TEST_REQUIRE(got.size() == numbers.size());
          for (std::size_t i = 0; i < got.size(); ++i) {
            BOOST_TEST(std::abs(got[i] - numbers[i]) <= bound_after * std::max(1.0, std::abs(numbers[i])), path);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(operands_are_rounded_and_saturate) {
  const Dense layer = two_inputs();
  // 0.3 / 0.25 = 1.2 is rounded to 1.25; 1000 / 0.25 is clipped to 448.
  const std::vector<double> y =
      Dense(layer)(Value(Tensor({2, 2}, std::vector<float>{0.3F, 0, 0, 1000}))).tensor().to_doubles();
  BOOST_TEST(y[0] == 1.25 * 0.25);
  BOOST_TEST(y[1] == 448 * 0.25 * 0.5);
}

BOOST_AUTO_TEST_CASE(gradients_pass_clipped_operands_and_are_rounded) {
  Dense layer = two_inputs();
  Variable x("x");
  x.assign(Tensor({1, 2}, std::vector<float>{0.3F, 1000}));
  const auto result = value_and_grad(std::vector<Variable>{x, float8_weight(layer, "kernel")},
                                     [&] { return sum(1.1 * layer(x, {.training = true})); });
  const std::vector<double> of_x = result.gradients[0].value.tensor().to_doubles();
  // 1.1 is rounded to 1 in float8_e5m2.
  BOOST_TEST(of_x[0] == 1.0);
  BOOST_TEST(of_x[1] == 0.5);
  const std::vector<double> of_kernel = result.gradients[1].value.tensor().to_doubles();
  BOOST_TEST(of_kernel[0] == 1.25 * 0.25);
  BOOST_TEST(of_kernel[1] == 448 * 0.25);
  BOOST_TEST(float8_weight(layer, "inputs_amax_history").value().to_doubles()[0] == 1000);
  BOOST_TEST(float8_weight(layer, "kernel_amax_history").value().to_doubles()[0] == 1);
  BOOST_TEST(std::abs(float8_weight(layer, "outputs_grad_amax_history").value().to_doubles()[0] - 1.1) < 1e-6);
  BOOST_TEST(float8_scale(layer, "inputs_scale") == 0.25);  // the history before the step is empty
  value_and_grad(layer, [&] { return sum(layer(x, {.training = true})); });
  BOOST_TEST(std::abs(float8_scale(layer, "inputs_scale") - 1000 / 448.0) < 1e-6);
  BOOST_TEST(std::abs(float8_scale(layer, "outputs_grad_scale") - 1.1 / 57344) < 1e-9);
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_stay_and_leave_scales) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* policy : {"float8_from_float32", "float8_from_mixed_bfloat16", "float8_from_mixed_float16"}) {
    BOOST_TEST_CONTEXT(policy) {
      Dense layer = two_inputs(policy);
      const Tensor x({3, 2}, std::vector<float>{nan, 1, 1, -inf, 1, 1});
      const std::vector<double> y = layer(Value(x)).tensor().to_doubles();
      BOOST_TEST(std::isnan(y[0]));
      BOOST_TEST(std::isnan(y[1]));
      BOOST_TEST(std::abs(y[2] - 1.5) < 1e-6);
      value_and_grad(layer, [&] { return sum(cast(layer(Value(x), {.training = true}), DType::float32)); });
      BOOST_TEST(float8_weight(layer, "inputs_amax_history").value().to_doubles()[0] == 0);
      BOOST_TEST(float8_scale(layer, "inputs_scale") == 0.25);
      BOOST_TEST(float8_weight(layer, "kernel_amax_history").value().to_doubles()[0] == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(loops_compute_and_do_not_train) {
  Dense layer = two_inputs();
  const Tensor x({3, 1, 2}, std::vector<double>{1, 2, 3, 4, 5, 6});
  const auto run = [&] {
    const ScanResult out = scan(
        [&](const Values& carry, const Values& xs) { return ScanResult{.carry = carry, .outputs = {layer(xs[0])}}; },
        {Value(Tensor({1}))}, {Value(x.cast(DType::float32))});
    return sum(out.outputs[0]);
  };
  BOOST_TEST(run().tensor().item() == 1 + 3 + 5 + 0.5 * (2 + 4 + 6));
  check_float8_error<ValueError>("must not have products in float8 in the body of a loop in training",
                                 [&] { value_and_grad(layer, run); });
}

BOOST_AUTO_TEST_SUITE_END()
