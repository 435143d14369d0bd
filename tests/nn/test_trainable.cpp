#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

#include "support/layers.hpp"

using namespace mezzo;
using mezzo_tests::changed_since;
using mezzo_tests::values_of;

namespace {

Tensor inputs() { return {{4, 2}, std::vector<float>{1, 2, 3, 1, 5, 6, 7, 9}}; }
Tensor targets() { return {{4, 1}, std::vector<float>{1, 0, 2, 1}}; }

/// Paths of the weights that a few steps change.
std::string trained(Model& model) {
  const auto before = values_of(model);
  model.fit(inputs(), targets(), {.batch_size = 2, .epochs = 2, .verbose = false});
  return changed_since(before, model);
}

void compile(Model& model, double learning_rate) {
  model.compile({.optimizer = SGD({.learning_rate = learning_rate}), .loss = "mse"});
  model.build({4, 2});
}

std::size_t trainable_count(const Layer& layer) { return layer.trainable_weights().size(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(trainable)

BOOST_AUTO_TEST_CASE(a_frozen_layer_keeps_its_weights_and_can_be_thawed) {
  Dense low({.units = 2, .activation = "linear"});
  Sequential model({low, Dense({.units = 1})});
  compile(model, 0.01);
  low.set_trainable(false);
  BOOST_TEST(!low.trainable());
  BOOST_TEST(trainable_count(model) == 2U);
  BOOST_TEST(trained(model) == "dense_1/kernel dense_1/bias");
  low.set_trainable(true);
  BOOST_TEST(trainable_count(model) == 4U);
  BOOST_TEST(trained(model) == "dense/kernel dense/bias dense_1/kernel dense_1/bias");
}

BOOST_AUTO_TEST_CASE(a_frozen_container_freezes_what_is_below) {
  Sequential low({Dense({.units = 2}), BatchNormalization(), Sequential({Dense({.units = 2})})});
  Sequential model({low, Dense({.units = 1})});
  compile(model, 0.01);
  low.set_trainable(false);
  BOOST_TEST(trainable_count(low) == 0U);
  BOOST_TEST(trained(model) == "dense/kernel dense/bias");
}

BOOST_AUTO_TEST_CASE(layers_are_made_frozen_by_an_option) {
  Sequential model({Dense({.units = 2, .trainable = false}), Dense({.units = 1})});
  compile(model, 0.01);
  BOOST_TEST(trained(model) == "dense_1/kernel dense_1/bias");
}

BOOST_AUTO_TEST_CASE(weights_that_are_not_trained_are_not_counted_as_trainable) {
  Sequential model({BatchNormalization()});
  model.build({4, 2});
  BOOST_TEST(model.weights().size() == 4U);
  BOOST_TEST(trainable_count(model) == 2U);
}

BOOST_AUTO_TEST_CASE(frozen_batch_normalization_runs_as_in_inference) {
  BatchNormalization norm;
  Sequential model({norm, Dense({.units = 1})});
  compile(model, 0);
  const auto fitted = [&] {
    return model.fit(inputs(), targets(), {.batch_size = 4, .verbose = false}).history.at("loss").front();
  };
  const auto before = values_of(model);
  const double inference = model.evaluate(inputs(), targets()).at("loss");
  norm.set_trainable(false);
  BOOST_TEST(fitted() == inference, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(changed_since(before, model) == "");
  norm.set_trainable(true);
  BOOST_TEST(std::abs(fitted() - inference) > 0.1);
  BOOST_TEST(changed_since(before, model) == "batch_normalization/moving_mean batch_normalization/moving_variance");
}

BOOST_AUTO_TEST_CASE(a_frozen_part_of_a_functional_model) {
  auto x = Input({.shape = {2}});
  auto low = BatchNormalization({.name = "norm"})(Dense({.units = 2, .name = "low"})(x));
  Model model({.inputs = {x}, .outputs = {Dense({.units = 1, .name = "head"})(low)}});
  model.get_layer("norm").set_trainable(false);
  model.get_layer("low").set_trainable(false);
  compile(model, 0.01);
  BOOST_TEST(trained(model) == "head/kernel head/bias");
  auto z = Input({.shape = {2}});
  Model outer({.inputs = {z}, .outputs = {model(z) * 2}});
  compile(outer, 0.01);
  BOOST_TEST(trained(outer) == "functional/head/kernel functional/head/bias");
}

BOOST_AUTO_TEST_SUITE_END()
