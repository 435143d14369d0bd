#include <mezzo/layers/activations/activation.hpp>
#include <mezzo/layers/activations/gelu.hpp>
#include <mezzo/layers/activations/relu.hpp>
#include <mezzo/layers/activations/softmax.hpp>
#include <mezzo/layers/preprocessing/rescaling.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(elementwise_layers)

BOOST_AUTO_TEST_CASE(equal_keras) {
  check_recorded("relu", [] { return ReLU(); });
  check_recorded("relu_max_value", [] { return ReLU(0.5); });
  check_recorded("relu_options", [] { return ReLU({.max_value = 0.6, .negative_slope = 0.1, .threshold = 0.2}); });
  check_recorded("relu_threshold", [] { return ReLU({.threshold = 0.2}); });
  check_recorded("relu_slope", [] { return ReLU({.negative_slope = 0.3}); });
  check_recorded("activation", [] { return layers::Activation({.activation = "relu"}); });
  check_recorded("rescaling", [] { return Rescaling({.scale = 1 / 127.5, .offset = -1}); });
}

BOOST_AUTO_TEST_CASE(activations_equal_keras) {
  for (const char* name : {"tanh", "sigmoid", "gelu", "softmax"}) {
    check_recorded(std::string("activation_") + name, [name] { return layers::Activation({.activation = name}); });
  }
  check_recorded("activation_gelu", [] { return GELU(); });
  check_recorded("gelu_approximate", [] { return GELU({.approximate = true}); });
  check_recorded("softmax", [] { return Softmax(); });
  check_recorded("softmax_axis_1", [] { return Softmax({.axis = 1}); });
}

BOOST_AUTO_TEST_CASE(activations_are_of_the_policys_dtype) {
  for (const char* name : {"mixed_bfloat16", "mixed_float16", "bfloat16", "float64"}) {
    const Policy policy(name);
    for (const char* activation : {"tanh", "sigmoid", "gelu", "softmax"}) {
      layers::Activation layer({.activation = activation, .dtype = policy});
      BOOST_TEST((layer(Value(Tensor({4, 3}))).dtype() == policy.compute_dtype()));
    }
    BOOST_TEST((GELU({.dtype = policy})(Value(Tensor({4, 3}))).dtype() == policy.compute_dtype()));
    BOOST_TEST((Softmax({.dtype = policy})(Value(Tensor({4, 3}))).dtype() == policy.compute_dtype()));
  }
}

// A sum of ones in bfloat16 stops at 256, in float16 at 2048.
BOOST_AUTO_TEST_CASE(softmax_adds_up_in_float32) {
  for (const char* name : {"mixed_bfloat16", "mixed_float16", "bfloat16", "float16"}) {
    const std::vector<double> y = Softmax({.dtype = name})(Value(Tensor({1, 4096}))).tensor().to_doubles();
    BOOST_TEST(*std::min_element(y.begin(), y.end()) == 1 / 4096.0, name);
    BOOST_TEST(*std::max_element(y.begin(), y.end()) == 1 / 4096.0, name);
  }
}

BOOST_AUTO_TEST_CASE(negative_axes_of_softmax_count_from_the_end) {
  const Value x(random_tensor({2, 3, 5}));
  for (const std::int64_t axis : {1, 2}) {
    BOOST_TEST(Softmax({.axis = axis - 3})(x).tensor().equal(Softmax({.axis = axis})(x).tensor()), "axis " << axis);
  }
}

BOOST_AUTO_TEST_CASE(softmax_refuses_axes_that_there_are_not) {
  BOOST_TEST(refused<ShapeError>([] {
               Softmax({.axis = 2, .name = "p"})(Value(Tensor({3, 4})));
             }) == "[Softmax \"p\"] axis must lie in [-2, 2); got 2");
}

BOOST_AUTO_TEST_CASE(relu_refuses_negative_options) {
  BOOST_TEST(refused<ValueError>([] { ReLU(-1); }) == "[ReLU] max_value must not be negative; got -1");
  BOOST_TEST(refused<ValueError>([] { ReLU({.negative_slope = -0.5, .name = "r"}); }) ==
             "[ReLU \"r\"] negative_slope must not be negative; got -0.5");
}

BOOST_AUTO_TEST_CASE(rescaling_makes_bytes_floats_of_the_policys_dtype) {
  const Tensor bytes({3}, std::vector<std::uint8_t>{0, 51, 255});
  const Value y = Rescaling({.scale = 1.0 / 255, .dtype = "float64"})(Value(bytes));
  BOOST_TEST((y.dtype() == DType::float64));
  BOOST_TEST(y.tensor().to_doubles() == (std::vector<double>{0, 51 * (1.0 / 255), 255 * (1.0 / 255)}));
  BOOST_TEST((Rescaling({.scale = 2, .dtype = "mixed_bfloat16"})(Value(bytes)).dtype() == DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(an_activation_layer_without_a_function_is_linear) {
  const Tensor x({2}, std::vector<float>{-1, 2});
  BOOST_TEST(layers::Activation()(Value(x)).tensor().equal(x));
  BOOST_TEST(refused<NameError>([] { layers::Activation({.activation = "swoosh"}); }) ==
             "unknown activation \"swoosh\"; valid names: celu, elu, exp, exponential, gelu, glu, hard_shrink, "
             "hard_sigmoid, hard_silu, "
             "hard_swish, hard_tanh, leaky_relu, linear, log_sigmoid, log_softmax, mish, relu, "
             "relu6, selu, sigmoid, silu, soft_shrink, softmax, softplus, softsign, sparse_plus, "
             "sparse_sigmoid, sparsemax, squareplus, swish, tanh, tanh_shrink; nearest: \"swish\"");
}

BOOST_AUTO_TEST_SUITE_END()
