// First arguments without a name, aliases of Keras' namespaces, and layers of functions.
#include <mezzo/mezzo.hpp>

#include <boost/test/unit_test.hpp>

#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::refused;

namespace {

Tensor counted(const Shape& shape) {
  std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7) - 3;
  return {shape, numbers};
}

/// Weights of two layers of one kind are drawn from one seed, so that equal layers give equal outputs.
void check_equal(const Any<Layer>& positional, const Any<Layer>& named, const Shape& shape) {
  seed_everything(3);
  const Tensor a = positional(Value(counted(shape))).tensor();
  seed_everything(3);
  BOOST_TEST(a.equal(named(Value(counted(shape))).tensor()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(positional)

BOOST_AUTO_TEST_CASE(positional_arguments_equal_named_ones) {
  const Shape rows{2, 3}, image{1, 6, 6, 2};
  check_equal(Dense(4, {.activation = "relu"}), Dense({.units = 4, .activation = "relu"}), rows);
  check_equal(Conv2D(4, 3, {.strides = 2}), Conv2D({.filters = 4, .kernel_size = 3, .strides = 2}), image);
  check_equal(Conv2D(4, {2, 3}), Conv2D({.filters = 4, .kernel_size = {2, 3}}), image);
  check_equal(Conv2D(4, {.kernel_size = {2, 3}}), Conv2D({.filters = 4, .kernel_size = {2, 3}}), image);
  check_equal(MaxPooling2D(3), MaxPooling2D({.pool_size = 3}), image);
  check_equal(MaxPooling2D({2, 3}, {.strides = 1}), MaxPooling2D({.pool_size = {2, 3}, .strides = 1}), image);
  check_equal(AveragePooling2D({3, 2}), AveragePooling2D({.pool_size = {3, 2}}), image);
  check_equal(ReLU(1), ReLU({.max_value = 1}), rows);
  check_equal(ReLU(1, 0.5), ReLU({.max_value = 1, .negative_slope = 0.5}), rows);
  check_equal(Softmax(0), Softmax({.axis = 0}), rows);
  check_equal(Rescaling(0.5), Rescaling({.scale = 0.5}), rows);
  check_equal(Rescaling(0.5, -1), Rescaling({.scale = 0.5, .offset = -1}), rows);
  check_equal(Permute({2, 3, 1}), Permute({.dims = {2, 3, 1}}), image);
  check_equal(ZeroPadding2D({2, 1}), ZeroPadding2D({.padding = {2, 1}}), image);
  check_equal(ZeroPadding2D({{1, 0}, {2, 3}}), ZeroPadding2D({.padding = {{1, 0}, {2, 3}}}), image);
  check_equal(Activation("tanh"), Activation({.activation = "tanh"}), rows);
  check_equal(Activation(sigmoid), Activation({.activation = "sigmoid"}), rows);
  const Tensor ids({2}, std::vector<std::int32_t>{0, 4});
  seed_everything(3);
  const Tensor a = Embedding(5, 3)(Value(ids)).tensor();
  seed_everything(3);
  BOOST_TEST(a.equal(Embedding({.input_dim = 5, .output_dim = 3})(Value(ids)).tensor()));
  BOOST_TEST(to_string(Input({28, 28, 1}).shape()) == "(?, 28, 28, 1)");
  BOOST_TEST(to_string(Input(Shape{7}, {.batch_size = 2}).shape()) == "(2, 7)");
  BOOST_TEST((Input({-1}, {.dtype = "int32"}).dtype() == DType::int32));
}

BOOST_AUTO_TEST_CASE(an_argument_given_twice_is_refused) {
  BOOST_TEST(refused<ValueError>([] { Dense(10, {.units = 20, .name = "fc"}); }) ==
             "[Dense \"fc\"] units is given twice: once without a name and once as .units");
  BOOST_TEST(refused<ValueError>([] { Conv2D(8, 3, {.kernel_size = 5}); }) ==
             "[Conv2D] kernel_size is given twice: once without a name and once as .kernel_size");
  BOOST_TEST(refused<ValueError>([] { Embedding(8, 3, {.input_dim = 5}); }) ==
             "[Embedding] input_dim is given twice: once without a name and once as .input_dim");
  BOOST_TEST(refused<ValueError>([] { Activation("relu", {.activation = "tanh"}); }) ==
             "[Activation] activation is given twice: once without a name and once as .activation");
  BOOST_TEST(refused<ValueError>([] { Input({3}, {.shape = {4}, .name = "x"}); }) ==
             "[Input \"x\"] shape is given twice: once without a name and once as .shape");
  const auto x = Input({3});
  BOOST_TEST(refused<ValueError>([&] { Model(x, x, {.outputs = {x}}); }) ==
             "[Model] outputs is given twice: once without a name and once as .outputs");
}

BOOST_AUTO_TEST_CASE(models_of_inputs_and_outputs) {
  const auto a = Input({3}), b = Input({3});
  const Value y = layers::add({a, b});
  const Model one(a, Activation("relu")(a)), two({a, b}, {y, layers::concatenate({a, b}, 1)});
  BOOST_TEST(one.outputs().size() == 1U);
  BOOST_TEST(two.inputs().size() == 2U);
  BOOST_TEST(to_string(two.outputs()[1].shape()) == "(?, 6)");
  BOOST_TEST(to_string(layers::multiply({a, b}).shape()) == "(?, 3)");
}

BOOST_AUTO_TEST_CASE(namespaces_are_keras) {
  BOOST_TEST((std::is_same_v<layers::Dense, Dense>));
  BOOST_TEST((std::is_same_v<layers::Activation, Activation>));
  BOOST_TEST((std::is_same_v<losses::MeanSquaredError, MeanSquaredError>));
  BOOST_TEST((!std::is_same_v<metrics::MeanSquaredError, MeanSquaredError>));
  BOOST_TEST((std::is_same_v<optimizers::Adam, Adam>));
  BOOST_TEST((std::is_same_v<initializers::Identity, IdentityInitializer>));
  BOOST_TEST((std::is_same_v<regularizers::l2, L2>));
  BOOST_TEST((std::is_same_v<constraints::MaxNorm, MaxNorm>));
  BOOST_TEST(activations::relu(Value(Tensor({1}, std::vector<float>{-1}))).item() == 0);
}

BOOST_AUTO_TEST_CASE(activations_are_functions_of_keras_names) {
  const std::pair<const char*, ActivationFunction> all[] = {{"celu", activations::celu},
                                                            {"elu", activations::elu},
                                                            {"exponential", activations::exponential},
                                                            {"gelu", activations::gelu},
                                                            {"glu", activations::glu},
                                                            {"hard_shrink", activations::hard_shrink},
                                                            {"hard_sigmoid", activations::hard_sigmoid},
                                                            {"hard_silu", activations::hard_silu},
                                                            {"hard_swish", activations::hard_swish},
                                                            {"hard_tanh", activations::hard_tanh},
                                                            {"leaky_relu", activations::leaky_relu},
                                                            {"linear", activations::linear},
                                                            {"log_sigmoid", activations::log_sigmoid},
                                                            {"log_softmax", activations::log_softmax},
                                                            {"mish", activations::mish},
                                                            {"relu", activations::relu},
                                                            {"relu6", activations::relu6},
                                                            {"selu", activations::selu},
                                                            {"sigmoid", activations::sigmoid},
                                                            {"silu", activations::silu},
                                                            {"soft_shrink", activations::soft_shrink},
                                                            {"softmax", activations::softmax},
                                                            {"softplus", activations::softplus},
                                                            {"softsign", activations::softsign},
                                                            {"sparse_plus", activations::sparse_plus},
                                                            {"sparse_sigmoid", activations::sparse_sigmoid},
                                                            {"sparsemax", activations::sparsemax},
                                                            {"squareplus", activations::squareplus},
                                                            {"swish", activations::swish},
                                                            {"tanh", activations::tanh},
                                                            {"tanh_shrink", activations::tanh_shrink}};
  const Value x(counted({2, 4}) - 3);
  for (const auto& [name, function] : all) {
    BOOST_TEST(function(x).tensor().equal(ActivationFunction(name)(x).tensor()), name);
    Dense layer(4, {.activation = function, .kernel_initializer = "identity"});
    BOOST_TEST(layer(x).shape().front() == 2, name);
  }
  const Dense dense(3, {.activation = activations::gelu}), rectified(3, {.activation = leaky_relu});
  BOOST_TEST(Activation(activations::softmax)(x).tensor().equal(softmax(x).tensor()));
}

BOOST_AUTO_TEST_CASE(lambda_layers) {
  const Value x(counted({2, 3}));
  BOOST_TEST(Lambda([](const Value& v) { return v * 2; })(x).tensor().equal((x * 2).tensor()));
  BOOST_TEST(Lambda({.function = sigmoid})(x).tensor().equal(sigmoid(x).tensor()));
  const Lambda difference([](const Values& xs) { return xs[0] - xs[1]; });
  BOOST_TEST(Lambda(difference)({x, x * 3})[0].tensor().equal((x - x * 3).tensor()));
  BOOST_TEST(Lambda([](const Values& xs) {
               return Values{xs[1], xs[0]};
             })({x, x + 1})[0]
                 .tensor()
                 .equal((x + 1).tensor()));
  const auto in = Input({3});
  Model model(in, Lambda([](const Value& v) { return v + 1; }, {.name = "plus"})(in));
  BOOST_TEST(model(x).tensor().equal((x + 1).tensor()));
  BOOST_TEST(refused<ValueError>([] { Lambda({.name = "none"}); }) ==
             "[Lambda \"none\"] function is required; got none");
  BOOST_TEST(refused<ValueError>([&] {
               Lambda({.function = sigmoid})({x, x});
             }) == "[Lambda] takes one input (a function of a Value); got 2");
}

BOOST_AUTO_TEST_CASE(initial_tables_and_their_errors) {
  const Tensor table({2, 2}, std::vector<float>{1, 2, 3, 4});
  const Value id(Tensor({1}, std::vector<std::int32_t>{1}));
  const std::vector<double> row{3, 4};
  BOOST_TEST(Embedding(2, 2, {.weights = table})(id).tensor().to_doubles() == row);
  BOOST_TEST(Embedding(2, 2, {.embeddings_initializer = Constant(table)})(id).tensor().to_doubles() == row);
  BOOST_TEST(refused<ShapeError>([&] { Embedding(3, 2, {.weights = table}); }) ==
             "[Embedding] weights must have shape (3, 2); got shape (2, 2)");
  BOOST_TEST(refused<ShapeError>([&] { Embedding(3, 2, {.embeddings_initializer = Constant(table)})(id); }) ==
             "[Constant] the array must have the weight's shape (3, 2); got shape (2, 2)");
}

BOOST_AUTO_TEST_SUITE_END()
