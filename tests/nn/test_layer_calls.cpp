// Modes of calls, state of the run inside call(), handles that are called, weights as arrays, models that grow.
#include <mezzo/mezzo.hpp>

#include <boost/test/unit_test.hpp>

#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct PhaseOptions {
  std::string name{};
  Policy dtype{};
};

/// x in inference, x + 10 step in training.
class Stage : public Layer {
 public:
  explicit Stage(const PhaseOptions& options = {}) : Layer("Stage", options) {}
  void build(const Shape&) override {}

 protected:
  Value call(const Value& x) override { return where(training(), x + 10 * cast(step(), x.dtype()), x); }
};

Tensor filled_with_ones(const Shape& shape) {
  return {shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), 1)};
}

/// Number of zeros in a tensor.
std::int64_t zeros_in(const Tensor& x) {
  const auto all = x.to_doubles();
  return std::count(all.begin(), all.end(), 0.0);
}

/// Mean of the model's output in a training step, as its loss.
double loss_of_step(Model& model, const Tensor& x, int steps) {
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mae"});
  Tensor many({x.shape()[0] * steps, x.shape()[1]}, DType::float32);
  for (std::int64_t i = 0; i < many.size(); ++i) many.mutable_data<float>()[i] = 1;
  const auto history = model.fit(many, Tensor({many.shape()[0], x.shape()[1]}, DType::float32),
                                 {.batch_size = x.shape()[0], .verbose = false});
  return history.history.at("loss").back();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layer_calls)

BOOST_AUTO_TEST_CASE(a_call_sets_the_mode) {
  const Value x(filled_with_ones({50, 4}));
  Dropout drop(0.5);
  BOOST_TEST(drop(x).tensor().equal(x.tensor()));
  const Tensor dropped = drop(x, {.training = true}).tensor();
  BOOST_TEST(zeros_in(dropped) > 50);
  BOOST_TEST(zeros_in(dropped) < 150);
  BOOST_TEST(!drop(x, {.training = true}).tensor().equal(dropped));  // each call draws anew
  seed_everything(5);
  const Tensor again = drop(x, {.training = true}).tensor();
  seed_everything(5);
  BOOST_TEST(drop(x, {.training = true}).tensor().equal(again));
  Sequential model({Dropout(0.5), Sequential({Dropout(0.5)})});
  BOOST_TEST(zeros_in(model(x, {.training = true}).tensor()) > 100);
  BOOST_TEST(zeros_in(model.layers()[1](x, {.training = true}).tensor()) > 50);
  const auto in = Input({4});
  Model functional(in, Dropout(0.5)(in));
  BOOST_TEST(zeros_in(functional(x, {.training = true}).tensor()) > 50);
  Model always(in, Dropout(0.5)(in, {.training = true})), never(in, Dropout(0.9)(in, {.training = false}));
  BOOST_TEST(zeros_in(always.predict(x.tensor())) > 50);
  BOOST_TEST(never(x, {.training = true}).tensor().equal(x.tensor()));  // the nearest call decides
  MultiHeadAttention attention(1, 4, {.dropout = 0.5, .kernel_initializer = "ones"});
  const Value q(filled_with_ones({1, 8, 4}));
  BOOST_TEST(!attention(q, q, {.training = true}).tensor().equal(attention(q, q).tensor()));
}

BOOST_AUTO_TEST_CASE(batch_normalization_in_a_given_mode) {
  const Value x(Tensor({4, 1}, std::vector<float>{1, 2, 3, 6}));
  BatchNormalization norm({.momentum = 0.5});
  norm(x, {.training = true});
  BOOST_TEST(norm.get_weights()[2].item() == 1.5);  // moving_mean
  norm(x);
  BOOST_TEST(norm.get_weights()[2].item() == 1.5);
  // A base model in inference mode keeps its statistics in training (the idiom of fine-tuning).
  const auto in = Input({1});
  Model base(in, BatchNormalization()(in));
  Model model(in, base(in, {.training = false}));
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  const auto before = values_of(model);
  model.fit(x.tensor(), x.tensor(), {.epochs = 2, .verbose = false});
  BOOST_TEST(changed_since(before, model) == "");
  Model free(in, base(in));
  free.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  free.fit(x.tensor(), x.tensor(), {.verbose = false});
  BOOST_TEST(changed_since(before, model) ==
             "functional/batch_normalization/moving_mean "
             "functional/batch_normalization/moving_variance");
}

BOOST_AUTO_TEST_CASE(layers_see_the_state_of_the_run) {
  const Tensor x = filled_with_ones({2, 3});
  BOOST_TEST(Stage()(Value(x)).tensor().equal(x));
  BOOST_TEST(training().item() == 0);
  BOOST_TEST((training().dtype() == DType::boolean));
  BOOST_TEST(step().item() == 0);
  BOOST_TEST((epoch().dtype() == DType::int64));
  const auto in = Input({3});
  const auto same = [] { return Dense(3, {.kernel_initializer = "identity"}); };  // a weight to train
  Model functional(in, Stage()(same()(in)));
  Model nested(in, functional(in));
  Sequential sequential({same(), Stage()});
  for (Model* model :
       {static_cast<Model*>(&functional), static_cast<Model*>(&nested), static_cast<Model*>(&sequential)}) {
    BOOST_TEST((*model)(Value(x)).tensor().equal(x));
    BOOST_TEST(model->predict(x).equal(x));
    BOOST_TEST(loss_of_step(*model, x, 3) == 11);  // the mean of 1, 11 and 21
    BOOST_TEST(model->evaluate(x, Tensor({2, 3})).at("loss") == 1);
  }
}

BOOST_AUTO_TEST_CASE(handles_are_called) {
  const Value x(filled_with_ones({2, 3}));
  const Any<Layer> dense = Dense(2, {.kernel_initializer = "ones"});
  BOOST_TEST(dense(x).tensor().to_doubles() == (std::vector<double>{3, 3, 3, 3}));
  BOOST_TEST(dense(Values{x}).size() == 1U);
  Sequential model({dense, Sequential({Activation("relu", {.name = "act"})}, {.name = "inner"})});
  BOOST_TEST(model.layers()[0](x).tensor().equal(dense(x).tensor()));
  BOOST_TEST(model.get_layer("inner/act")(x * -1).tensor().equal(Tensor({2, 3})));
  const auto in = Input({3});
  const Model functional(in, Dense(2, {.name = "fc"})(in));
  BOOST_TEST(functional.get_layer("fc")(x).tensor().equal(functional.layers()[0](x).tensor()));
  Model of_model = functional;
  BOOST_TEST(functional.get_layer("fc")(x).tensor().equal(of_model(x).tensor()));
  const Model around(in, Model(in, Dense(2, {.name = "inner"})(in), {.name = "backbone"})(in));
  BOOST_TEST(around.get_layer("backbone/inner")(x).shape().back() == 2);
  const Model own(in, Stage({.name = "own"})(in));
  BOOST_TEST(
      refused<ValueError>([&] { own.get_layer("own")(x); }) ==
      "[Model] layer \"own\" must be held by a Sequential or a functional model to be called; got one that is not, "
      "or whose class register_layer() doesn't know: call the layer object");
  BOOST_TEST(refused<ValueError>([&] { Any<Layer>()(x); }) ==
             "[Layer] a handle must hold a layer to be called; got an empty Any<Layer>");
}

BOOST_AUTO_TEST_CASE(layers_of_a_model) {
  const auto in = Input({3});
  const Value hidden = Dense(2, {.name = "first"})(in);
  Model model(in, Dense(1)(hidden));
  std::string kinds;
  std::vector<detail::LayerHandle> all = model.layers();
  for (detail::LayerHandle& layer : all) {
    kinds += layer.state()->kind + " ";
    layer.set_trainable(false);
  }
  BOOST_TEST(kinds == "Dense Dense ");
  BOOST_TEST(model.trainable_variables().empty());
  BOOST_TEST(model.non_trainable_variables().size() == 4U);
  BOOST_TEST(model.layers()[0].count_params() == 8);
}

BOOST_AUTO_TEST_CASE(trainable_is_set_below) {
  Dense inner(2);
  Sequential outer({Sequential({inner})});
  outer.set_trainable(false);
  BOOST_TEST(!inner.trainable());
  inner.set_trainable(true);
  BOOST_TEST(inner.trainable());
  BOOST_TEST(!outer.trainable());
  outer.set_trainable(true);
  BOOST_TEST(outer.layers()[0]->trainable());
}

BOOST_AUTO_TEST_CASE(weights_as_arrays) {
  Sequential model({Dense(2, {.name = "fc"}), BatchNormalization()});
  BOOST_TEST(refused<ValueError>([&] { model.count_params(); }) ==
             "[Sequential] count_params: the layer must be built; got one that was never called");
  BOOST_TEST(refused<ValueError>([&] {
               model.set_weights({filled_with_ones({3, 2})});
             }) ==
             "[Sequential] set_weights: number of arrays must be 0; got 1 (the layer has no weights before it is "
             "built)");
  model.build({1, 3});
  BOOST_TEST(model.count_params() == 16);
  BOOST_TEST(Flatten().state()->kind == "Flatten");
  std::vector<Tensor> arrays = model.get_weights();
  BOOST_TEST_REQUIRE(arrays.size() == 6U);
  const Tensor old = arrays[1];
  arrays[1] = Tensor({2}, std::vector<double>{5, 6});
  model.set_weights(arrays);
  BOOST_TEST(model.get_weights()[1].equal(Tensor({2}, std::vector<float>{5, 6})));
  BOOST_TEST(old.to_doubles() == (std::vector<double>{0, 0}));
  arrays[0] = filled_with_ones({2, 3});
  arrays[1] = old;
  BOOST_TEST(refused<ShapeError>([&] { model.set_weights(arrays); }) ==
             "[Sequential] set_weights: array 0 must have shape (3, 2) (fc/kernel); got shape (2, 3)");
  arrays.pop_back();
  BOOST_TEST(refused<ValueError>([&] { model.set_weights(arrays); }) ==
             "[Sequential] set_weights: number of arrays must be 6; got 5");
  BOOST_TEST(model.get_weights()[1].equal(Tensor({2}, std::vector<float>{5, 6})));
}

BOOST_AUTO_TEST_CASE(sequentials_grow_and_shrink) {
  const Tensor x = filled_with_ones({4, 3}), y = filled_with_ones({4, 2});
  Sequential model({.name = "grown"});
  BOOST_TEST(refused<ValueError>([&] { model(Value(x)); }) ==
             "[Sequential \"grown\"] the model must have a layer; got none: add() one");
  model.add(Input({3}));
  model.add(Dense(4, {.activation = "relu"}));
  model.add(layers::Dense(2));
  BOOST_TEST(paths_of(model) == "dense/kernel dense/bias dense_1/kernel dense_1/bias");
  BOOST_TEST(refused<ValueError>([&] { model.add(Input({3})); }) ==
             "[Sequential \"grown\"] add: Input must be the first layer; got one at index 3");
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(x, y, {.epochs = 2, .verbose = false});
  // A layer that doesn't fit leaves the model as it was.
  BOOST_CHECK_THROW(model.add(Conv2D(2, 3)), ShapeError);
  BOOST_TEST(model.layers().size() == 2U);
  BOOST_TEST(paths_of(model) == "dense/kernel dense/bias dense_1/kernel dense_1/bias");
  const Tensor predicted = model.predict(x);
  Sequential copy = model;
  const Any<Layer> head = model.pop();
  BOOST_TEST(copy.layers().size() == 1U);  // copies share their layers
  BOOST_TEST(paths_of(model) == "dense/kernel dense/bias");
  BOOST_TEST(model.predict(x).shape() == (Shape{4, 4}), boost::test_tools::per_element());
  model.add(head);
  BOOST_TEST(model.predict(x).equal(predicted));
  Sequential twin = clone(model);
  twin.add(Dense(2, {.name = "more"}));
  BOOST_TEST(model.layers().size() == 2U);
  twin.compile({.optimizer = "adam", .loss = "mse"});
  const auto before = values_of(twin);
  twin.fit(x, y, {.verbose = false});
  BOOST_TEST(changed_since(before, twin).find("more/kernel") != std::string::npos);
  BOOST_TEST(refused<NameError>([&] { twin.add(Dense(2, {.name = "more"})); }) ==
             "[Sequential] names of sub-layers must differ; got \"more\" twice");
  while (!model.layers().empty()) model.pop();
  BOOST_TEST(refused<ValueError>([&] { model.pop(); }) ==
             "[Sequential \"grown\"] pop: the model must have a layer; got none");
  BOOST_TEST(refused<ValueError>([&] { model.add(Any<Layer>()); }) ==
             "[Sequential \"grown\"] add: the layer must be given; got an empty Any<Layer>");
}

BOOST_AUTO_TEST_SUITE_END()
