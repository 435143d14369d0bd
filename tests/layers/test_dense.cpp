#include <mezzo/layers/core/dense.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(dense)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("dense", [] { return Dense({.units = 3}); });
  check_recorded("dense_relu_without_bias",
                 [] { return Dense({.units = 3, .activation = "relu", .use_bias = false}); });
  check_recorded("dense_rank_4", [] { return Dense({.units = 4}); });
}

BOOST_AUTO_TEST_CASE(weights_have_the_initializers_values) {
  Dense layer({.units = 2, .kernel_initializer = "ones", .bias_initializer = "zeros"});
  layer.build({8, 3});
  BOOST_TEST((layer.weights()[0].shape() == Shape{3, 2}));
  BOOST_TEST(layer.weights()[0].value().to_doubles() == std::vector<double>(6, 1.0));
  BOOST_TEST(layer.weights()[1].value().to_doubles() == std::vector<double>(2, 0.0));
}

BOOST_AUTO_TEST_CASE(any_function_is_an_activation) {
  Dense layer({.units = 1, .activation = [](const Value& x) { return x * 2.0; }, .kernel_initializer = "ones"});
  BOOST_TEST(layer(Value(Tensor({1, 2}, std::vector<float>{1, 2}))).item() == 6);
}

BOOST_AUTO_TEST_CASE(computes_in_the_policys_dtype) {
  const Tensor x({4, 3});
  for (const char* name : {"mixed_bfloat16", "mixed_float16", "bfloat16", "float16", "float64"}) {
    const Policy policy(name);
    Dense layer({.units = 2, .dtype = policy});
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST((layer(Value(x)).dtype() == policy.compute_dtype()));
      BOOST_TEST((layer.weights()[0].dtype() == policy.variable_dtype()));
      BOOST_TEST((layer.weights()[1].dtype() == policy.variable_dtype()));
    }
  }
}

BOOST_AUTO_TEST_CASE(copies_share_weights_and_clones_do_not) {
  Dense layer({.units = 2});
  Dense copy = layer;
  Dense deep = clone(layer);
  layer.build({1, 3});
  copy.build({1, 3});
  deep.build({1, 3});
  BOOST_TEST(copy.weights()[0].id() == layer.weights()[0].id());
  BOOST_TEST(deep.weights()[0].id() != layer.weights()[0].id());
  BOOST_TEST(refused<ShapeError>([&] {
               Dense(layer).build({1, 4});
             }) == "[Dense] kernel was built with shape (3, 2); this input needs (4, 2)");
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { Dense(); }) == "[Dense] units must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { Dense({.units = -2, .name = "head"}); }) ==
             "[Dense \"head\"] units must be at least 1; got -2");
  BOOST_TEST(refused<NameError>([] { Dense({.units = 1, .activation = "rleu"}); }) ==
             "unknown activation \"rleu\"; valid names: celu, elu, exp, exponential, gelu, glu, hard_shrink, "
             "hard_sigmoid, hard_silu, "
             "hard_swish, hard_tanh, leaky_relu, linear, log_sigmoid, log_softmax, mish, relu, "
             "relu6, selu, sigmoid, silu, soft_shrink, softmax, softplus, softsign, sparse_plus, "
             "sparse_sigmoid, sparsemax, squareplus, swish, tanh, tanh_shrink; nearest: \"relu\"");
  BOOST_TEST(refused<NameError>([] {
               Dense({.units = 1, .kernel_initializer = "one_hot"});
             }).starts_with("unknown initializer \"one_hot\"; valid names: constant, glorot_normal"));
  Dense layer({.units = 2, .name = "head"});
  BOOST_TEST(refused<ShapeError>([&] { layer(Value(Tensor({4}))); }) ==
             "[Dense \"head\"] input must have rank 2 or more; got shape (4,): add a batch axis if this is one sample");
  BOOST_TEST(layer.weights().empty());
  layer(Value(Tensor({4, 3})));
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({4, 5})));
             }) == "[Dense \"head\"] input axis -1 must be 3 (rows of kernel); got shape (4, 5)");
  BOOST_TEST(refused<ShapeError>([] {
               Dense({.units = 2}).build({8, -1});
             }) == "[Dense] input axis -1 must have a known size; got shape (8, ?)");
}

BOOST_AUTO_TEST_SUITE_END()
