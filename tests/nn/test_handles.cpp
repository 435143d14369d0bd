#include <boost/test/unit_test.hpp>

#include <string>
#include <type_traits>

#include <xtensor/xarray.hpp>

#include <mezzo/mezzo.hpp>
#include <mezzo/xtensor.hpp>

#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::refused;

namespace {

class Classifier : public Module {
 public:
  Classifier() : Module("Classifier") {}
};

class Subclass : public Model {
 public:
  Subclass() : Model("Subclass") {}
};

// Slicing doesn't compile.
static_assert(std::is_copy_constructible_v<Model> && std::is_move_constructible_v<Model>);
static_assert(std::is_copy_assignable_v<Model> && std::is_move_assignable_v<Model>);
static_assert(!std::is_convertible_v<Sequential, Model> && !std::is_convertible_v<Subclass, Model>);
static_assert(!std::is_constructible_v<Model, Sequential> && !std::is_constructible_v<Model, Sequential&>);
static_assert(!std::is_constructible_v<Model, const Sequential&> && !std::is_constructible_v<Model, const Subclass&>);
static_assert(!std::is_assignable_v<Model&, Sequential> && !std::is_assignable_v<Model&, const Subclass&>);
static_assert(!std::is_constructible_v<Module, const Classifier&> && !std::is_constructible_v<Layer, const Dense&>);
static_assert(std::is_copy_assignable_v<Sequential> && std::is_move_constructible_v<Subclass>);

// Handles convert from their family only.
static_assert(std::is_base_of_v<Value, Input> && sizeof(Input) == sizeof(Value));
static_assert(std::is_convertible_v<Input, Any<Layer>> && std::is_convertible_v<Sequential, Any<Layer>>);
static_assert(std::is_same_v<MeanAbsoluteError, losses::MeanAbsoluteError>);
static_assert(!std::is_same_v<MeanAbsoluteError, metrics::MeanAbsoluteError>);
static_assert(!std::is_convertible_v<metrics::MeanAbsoluteError, Any<Loss>>);
static_assert(!std::is_convertible_v<Dense, Any<Metric>> && !std::is_convertible_v<Dense, Any<Loss>>);
static_assert(!std::is_constructible_v<bool, Value>);

// Tensors convert from and to arrays only.
static_assert(std::is_convertible_v<xt::xarray<float>, Tensor> && std::is_convertible_v<Tensor, xt::xarray<float>>);
static_assert(std::is_constructible_v<Value, xt::xarray<float>>);
static_assert(!std::is_convertible_v<Tensor, std::string> && !std::is_convertible_v<std::string, Tensor>);

}  // namespace

BOOST_AUTO_TEST_SUITE(handles)

BOOST_AUTO_TEST_CASE(metrics_come_as_names_metrics_and_losses) {
  const Any<Loss> loss = "mae";
  const std::string given = "mse";
  const CompileOptions options{
      .loss = MeanAbsoluteError(),
      .metrics = {"accuracy", MeanAbsoluteError(), metrics::MeanAbsoluteError({.name = "twin"}), loss, given}};
  std::string names;
  for (const Metrics& item : options.metrics.items()) names += item.metric()->name() + " ";
  BOOST_TEST(names == "accuracy mean_absolute_error twin mae mse ");
  BOOST_TEST(options.loss.list[0]->name() == "mean_absolute_error");
  BOOST_TEST(to_string(options.metrics.items()[1].metric()->call(Tensor({8, 1}), Tensor({8, 1})).shape()) == "(8,)");
  BOOST_TEST((CompileOptions{.loss = "mse", .metrics = {MeanAbsoluteError()}}.metrics.items().size()) == 1U);
  BOOST_TEST((CompileOptions{.loss = "mse", .metrics = {"accuracy", "mae"}}.metrics.items().size()) == 2U);
}

BOOST_AUTO_TEST_CASE(activations_come_as_names_and_functions) {
  const Tensor x({1, 2}, std::vector<float>{-1, 2});
  for (const ActivationFunction& activation :
       {ActivationFunction(relu), ActivationFunction("relu"), ActivationFunction(std::string("relu")),
        ActivationFunction([](const Value& v) { return relu(v); }),
        ActivationFunction([](Value v) { return relu(v); })}) {
    BOOST_TEST(activation(x).tensor().equal(Tensor({1, 2}, std::vector<float>{0, 2})));
  }
  BOOST_TEST(ActivationFunction()(x).tensor().equal(x));
  Sequential model({layers::Activation({.activation = [](const Value& v) { return v * 2; }})});
  BOOST_TEST(model(x).tensor().equal(Tensor({1, 2}, std::vector<float>{-2, 4})));
}

BOOST_AUTO_TEST_CASE(unknown_names_are_refused_with_the_good_ones) {
  BOOST_TEST(refused<NameError>([] { Dense({.units = 1, .activation = "rleu"}); }) ==
             "unknown activation \"rleu\"; valid names: celu, elu, exp, exponential, gelu, glu, hard_shrink, "
             "hard_sigmoid, hard_silu, "
             "hard_swish, hard_tanh, leaky_relu, linear, log_sigmoid, log_softmax, mish, relu, "
             "relu6, selu, sigmoid, silu, soft_shrink, softmax, softplus, softsign, sparse_plus, "
             "sparse_sigmoid, sparsemax, squareplus, swish, tanh, tanh_shrink; nearest: \"relu\"");
  const auto starts = [](const std::string& text, const std::string& begin, const std::string& holds) {
    return text.rfind(begin, 0) == 0 && text.find(holds) != std::string::npos;
  };
  BOOST_TEST(starts(refused<NameError>([] { Any<Loss>("mes"); }),
                    "unknown loss \"mes\"; valid names: ", "; nearest: \"mse\""));
  BOOST_TEST(starts(refused<NameError>([] { Any<Metric>("acuracy"); }),
                    "unknown metric \"acuracy\"; valid names: ", "; nearest: \"accuracy\""));
  BOOST_TEST(starts(refused<NameError>([] { Any<Optimizer>("adma"); }),
                    "unknown optimizer \"adma\"; valid names: ", "adam, adamax, adamw, "));
  BOOST_TEST(starts(refused<NameError>([] { Any<Initializer>("glorot"); }),
                    "unknown initializer \"glorot\"; valid names: ", "glorot_uniform"));
  BOOST_TEST(starts(refused<NameError>([] { Trainer({.precision = "bf17"}); }),
                    "unknown precision \"bf17\"; valid names: ", "bf16, bf16-mixed, 16, 16-mixed, bf16-true, 16-true"));
  BOOST_TEST(
      starts(refused<NameError>([] { Trainer({.precision = 8}); }), "unknown precision \"8\"; valid names: ", "32"));
}

BOOST_AUTO_TEST_CASE(a_layer_of_ones_own_in_a_list_with_others) {
  const std::vector<Any<Layer>> layers{mezzo_tests::Scale({.initial = 2}), ReLU(), Any<Layer>(Flatten())};
  Sequential model(layers);
  const Tensor x({1, 2}, std::vector<float>{-1, 2});
  BOOST_TEST(model(x).tensor().equal(Tensor({1, 2}, std::vector<float>{0, 4})));
  BOOST_TEST(model.layers().size() == 3U);
}

BOOST_AUTO_TEST_SUITE_END()
