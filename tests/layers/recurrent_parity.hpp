#pragma once

#include <string>

#include "parity.hpp"

namespace mezzo_tests {

inline mezzo::Tensor bool_mask(const nlohmann::json& entry) {
  return entry.contains("mask") ? recorded_tensor(entry.at("mask")).cast(mezzo::DType::boolean) : mezzo::Tensor();
}

// All outputs of a layer beside each other: (batch, ...). The weights are those of the layer itself.
class Joined : public mezzo::Layer {
 public:
  Joined(mezzo::Any<mezzo::Layer> layer, mezzo::Tensor mask)
      : Layer("Joined"), layer_(std::move(layer)), mask_(std::move(mask)) {}
  void build(const mezzo::Shape&) override {}

 protected:
  mezzo::Values call_many(const mezzo::Values& xs) override {
    mezzo::Values inputs = xs, parts;
    if (mask_.size() > 0) inputs.push_back(mask_);
    for (const mezzo::Value& y : layer_(inputs)) parts.push_back(reshape(y, {y.shape()[0], -1}));
    return {concat(parts)};
  }

 private:
  mezzo::Any<mezzo::Layer> layer_;
  mezzo::Tensor mask_;
};

// Compares a recurrent layer with recorded results, whose names of weights are relative to the layer.
template <class L>
void check_recurrent(const std::string& name, const L& layer_of, const std::string& file = "recurrent") {
  nlohmann::json expected = recorded(file).at(name);
  const auto make = [&]() -> mezzo::Any<mezzo::Layer> { return Joined(layer_of(), bool_mask(expected)); };
  const std::string prefix = "layer/";
  for (auto& weight : expected["weights"]) weight["name"] = prefix + weight["name"].get<std::string>();
  nlohmann::json gradients;
  for (const auto& item : expected["weight_gradients"].items()) gradients[prefix + item.key()] = item.value();
  expected["weight_gradients"] = gradients;
  BOOST_TEST_CONTEXT(name) check_layer(expected, make);
}

// Two calls of a stateful layer and one after reset_states().
template <class L>
void check_stateful_calls(const nlohmann::json& expected, L&& layer) {
  const mezzo::Tensor x = recorded_tensor(expected.at("input"));
  layer(x);
  std::vector<mezzo::Tensor> weights;
  for (const auto& weight : expected.at("weights")) weights.push_back(recorded_tensor(weight));
  layer.set_weights(weights);
  layer.reset_state();
  const auto check = [&](const mezzo::Value& input, std::size_t i) {
    mezzo::Values parts;
    for (const mezzo::Value& y : layer(mezzo::Values{input})) parts.push_back(reshape(y, {2, -1}));
    BOOST_TEST(largest_difference(concat(parts).tensor(), recorded_tensor(expected.at("outputs")[i])) <= 1e-12, i);
  };
  check(x, 0);
  check(-mezzo::Value(x), 1);
  layer.reset_states();
  check(-mezzo::Value(x), 2);
}

}  // namespace mezzo_tests
