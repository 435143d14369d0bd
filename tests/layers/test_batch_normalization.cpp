#include <mezzo/initializers/constant.hpp>
#include <mezzo/layers/normalization/batch_normalization.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(batch_normalization)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("batch_normalization", [] { return BatchNormalization(); });
  check_recorded("batch_normalization_inference", [] { return BatchNormalization(); });
  check_recorded("batch_normalization_options", [] { return BatchNormalization({.momentum = 0.9, .epsilon = 1e-5}); });
  check_recorded("batch_normalization_without_center", [] { return BatchNormalization({.center = false}); });
  check_recorded("batch_normalization_without_scale", [] { return BatchNormalization({.scale = false}); });
  check_recorded("batch_normalization_axis_1", [] { return BatchNormalization({.axis = 1}); });
}

BOOST_AUTO_TEST_CASE(frozen_it_is_in_inference_mode) {
  check_recorded("batch_normalization_frozen", [] { return BatchNormalization({.trainable = false}); });
}

BOOST_AUTO_TEST_CASE(training_moves_the_statistics_and_inference_does_not) {
  const Tensor x = random_tensor({6, 2});
  BatchNormalization layer;
  BOOST_TEST(run_layer(layer, {x}, x, true).moved.size() == 2U);
  BOOST_TEST(run_layer(layer, {x}, x, false).moved.empty());
  layer.set_trainable(false);
  BOOST_TEST(run_layer(layer, {x}, x, true).moved.empty());
}

BOOST_AUTO_TEST_CASE(initializers_are_used) {
  BatchNormalization layer({.beta_initializer = Constant(1),
                            .gamma_initializer = Constant(2),
                            .moving_mean_initializer = Constant(3),
                            .moving_variance_initializer = Constant(4)});
  layer.build({5, 1});
  std::map<std::string, double> values;
  for (const auto& [name, weight] : layer.named_weights()) values[name] = weight.value().item();
  BOOST_TEST(
      (values == std::map<std::string, double>{{"beta", 1}, {"gamma", 2}, {"moving_mean", 3}, {"moving_variance", 4}}));
}

BOOST_AUTO_TEST_CASE(weights_are_of_at_least_float32_and_activations_of_the_policys_dtype) {
  for (const char* name : {"mixed_bfloat16", "bfloat16", "float16"}) {
    const Policy policy(name);
    BatchNormalization layer({.dtype = policy});
    BOOST_TEST((layer(Value(Tensor({4, 3}))).dtype() == policy.compute_dtype()));
    for (const Variable& weight : layer.weights()) BOOST_TEST((weight.dtype() == DType::float32));
  }
}

// Statistics in bfloat16 would lose the small deviation beside the large mean.
BOOST_AUTO_TEST_CASE(low_precision_inputs_have_float32_statistics) {
  std::vector<float> numbers(512);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 64 + static_cast<float>(i % 2);
  BatchNormalization layer({.momentum = 0, .dtype = "mixed_bfloat16"});
  const Tensor x({512, 1}, numbers);
  const LayerRun run = run_layer(layer, {x}, x, true);
  BOOST_TEST(run.moved.at("moving_mean").item() == 64.5);
  BOOST_TEST(run.moved.at("moving_variance").item() == 0.25);
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { BatchNormalization({.momentum = 1.5}); }) ==
             "[BatchNormalization] momentum must lie in [0, 1]; got 1.5");
  BOOST_TEST(refused<ValueError>([] { BatchNormalization({.epsilon = -1}); }) ==
             "[BatchNormalization] epsilon must not be negative; got -1");
  BOOST_TEST(refused<ValueError>([] { BatchNormalization({.epsilon = -1e-9}); }) ==
             "[BatchNormalization] epsilon must not be negative; got -1e-09");
  BOOST_TEST(
      refused<ShapeError>([] { BatchNormalization()(Value(Tensor({3}))); }) ==
      "[BatchNormalization] input must have rank 2 or more; got shape (3,): add a batch axis if this is one sample");
  BOOST_TEST(refused<ShapeError>([] {
               BatchNormalization({.axis = 3})(Value(Tensor({3, 4})));
             }) == "[BatchNormalization] axis must lie in [-2, 2); got 3");
  BatchNormalization layer({.name = "bn"});
  layer(Value(Tensor({3, 4})));
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({3, 5})));
             }) == "[BatchNormalization \"bn\"] input axis -1 must be 4 (size of gamma); got shape (3, 5)");
}

BOOST_AUTO_TEST_SUITE_END()
