#include <mezzo/initializers/constant.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(layer_normalization)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("layer_normalization", [] { return LayerNormalization(); });
  check_recorded("layer_normalization_options", [] { return LayerNormalization({.axis = {-2, -1}, .epsilon = 1e-5}); });
  check_recorded("layer_normalization_axis_1", [] { return LayerNormalization({.axis = 1}); });
  check_recorded("layer_normalization_axes_1_3", [] { return LayerNormalization({.axis = {1, 3}}); });
  check_recorded("layer_normalization_without_center", [] { return LayerNormalization({.center = false}); });
  check_recorded("layer_normalization_without_scale", [] { return LayerNormalization({.scale = false}); });
  check_recorded("layer_normalization_frozen", [] { return LayerNormalization({.trainable = false}); });
}

BOOST_AUTO_TEST_CASE(initializers_are_used) {
  LayerNormalization layer({.beta_initializer = Constant(1), .gamma_initializer = Constant(2)});
  layer.build({5, 1});
  std::map<std::string, double> values;
  for (const auto& [name, weight] : layer.named_weights()) values[name] = weight.value().item();
  BOOST_TEST((values == std::map<std::string, double>{{"beta", 1}, {"gamma", 2}}));
}

BOOST_AUTO_TEST_CASE(weights_are_of_at_least_float32_and_activations_of_the_policys_dtype) {
  for (const char* name : {"mixed_bfloat16", "mixed_float16", "bfloat16", "float16"}) {
    const Policy policy(name);
    LayerNormalization layer({.dtype = policy});
    BOOST_TEST((layer(Value(Tensor({4, 3}))).dtype() == policy.compute_dtype()));
    for (const Variable& weight : layer.weights()) BOOST_TEST((weight.dtype() == DType::float32));
  }
}

// Statistics in bfloat16 would lose the small deviation beside the large mean.
BOOST_AUTO_TEST_CASE(low_precision_inputs_have_float32_statistics) {
  std::vector<float> numbers(512);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 64 + static_cast<float>(i % 2);
  LayerNormalization layer({.epsilon = 0, .dtype = "mixed_bfloat16"});
  const Tensor y = layer(Value(Tensor({1, 512}, numbers))).tensor();
  for (std::int64_t i = 0; i < 512; ++i) {
    BOOST_TEST(y.to_doubles()[static_cast<std::size_t>(i)] == (i % 2 == 0 ? -1 : 1));
  }
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { LayerNormalization({.epsilon = -1}); }) ==
             "[LayerNormalization] epsilon must not be negative; got -1");
  BOOST_TEST(refused<ValueError>([] { LayerNormalization({.axis = detail::Ints()}); }) ==
             "[LayerNormalization] axis must be one number or more; got none");
  BOOST_TEST(refused<ValueError>([] {
               LayerNormalization({.axis = {1, -1}})(Value(Tensor({3, 4})));
             }) == "[LayerNormalization] axes must differ; got 1 twice");
  BOOST_TEST(refused<ShapeError>([] {
               LayerNormalization({.axis = 3})(Value(Tensor({3, 4})));
             }) == "[LayerNormalization] axis must lie in [-2, 2); got 3");
  LayerNormalization layer({.name = "norm"});
  layer(Value(Tensor({3, 4})));
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({3, 5})));
             }) == "[LayerNormalization \"norm\"] input axis -1 must be 4 (size of gamma); got shape (3, 5)");
}

BOOST_AUTO_TEST_SUITE_END()
