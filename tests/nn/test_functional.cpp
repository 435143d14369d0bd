#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::changed_since;
using mezzo_tests::paths_of;
using mezzo_tests::refused;
using mezzo_tests::values_of;

namespace {

Model digits() {
  auto x = Input({.shape = {6, 6, 1}});
  auto y = Dense({.units = 10})(Flatten()(x));
  Model model({.inputs = {x}, .outputs = {y}});
  return model;
}

/// Applies an op to its weight alone before the op with the input.
class ExpScale : public Layer {
 public:
  ExpScale() : Layer("ExpScale") {}
  void build(const Shape&) override { add_weight(log_scale_, {.shape = {}, .initializer = Constant(0)}); }

 protected:
  Value call(const Value& x) override { return x * exp(log_scale_ + 0.0); }

 private:
  Variable log_scale_{"log_scale"};
};

/// Stores the mean of its input in a variable, then calls a frozen layer.
class Watches : public Layer {
 public:
  Watches() : Layer("Watches") {}
  void build(const Shape&) override {
    add_weight(seen_, {.shape = {}, .initializer = Constant(0), .trainable = false});
  }

 protected:
  Value call(const Value& x) override {
    update(seen_, mean(x));
    return frozen_(x);
  }

 private:
  Variable seen_{"seen"};
  Dense frozen_ = sub("frozen", Dense({.units = 1, .trainable = false}));
};

Tensor all_ones(const Shape& shape) {
  return {shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), 1)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functional)

BOOST_AUTO_TEST_CASE(a_model_by_value_outlives_its_layers) {
  Model model = digits();
  BOOST_TEST(paths_of(model) == "dense/kernel dense/bias");
  BOOST_TEST(to_string(model.weights()[0].shape()) == "(36, 10)");
  BOOST_TEST(to_string(model(Tensor({5, 6, 6, 1})).shape()) == "(5, 10)");
  Model copy = model;
  Model made = digits();
  made = std::move(copy);
  BOOST_TEST(made.weights()[0].id() == model.weights()[0].id());
  BOOST_TEST(copy.weights().size() == 2U);  // NOLINT(bugprone-use-after-move)
}

BOOST_AUTO_TEST_CASE(symbols_have_an_open_batch_and_no_numbers) {
  auto x = Input({.shape = {6, 6, 1}, .name = "image"});
  BOOST_TEST(to_string(x.shape()) == "(?, 6, 6, 1)");
  BOOST_TEST(to_string(Flatten()(x).shape()) == "(?, 36)");
  BOOST_TEST(refused<ValueError>([&] { x.tensor(); }) ==
             "[Input \"image\"] a symbolic Value (output of input) has no numbers while the step is traced: log() it, "
             "or return it");
  BOOST_TEST(refused<ValueError>([&] { relu(x).item(); }) != "");
}

BOOST_AUTO_TEST_CASE(inputs_of_another_shape_are_refused) {
  Model model = digits();
  BOOST_TEST(refused<ShapeError>([&] {
               model(Tensor({5, 6, 6, 3}));
             }) == "[Functional] input 0 must have shape (?, 6, 6, 1); got shape (5, 6, 6, 3)");
  BOOST_TEST(refused<ShapeError>([&] {
               model(Tensor({5, 36}));
             }) == "[Functional] input 0 must have shape (?, 6, 6, 1); got shape (5, 36)");
  BOOST_TEST(refused<ValueError>([&] {
               model({Tensor({5, 6, 6, 1}), Tensor({5, 6, 6, 1})});
             }) == "[Functional] number of inputs must be 1; got 2");
}

BOOST_AUTO_TEST_CASE(the_ends_must_belong_together) {
  auto x = Input({.shape = {4}});
  auto other = Input({.shape = {4}});
  auto y = Dense({.units = 2})(x);
  BOOST_TEST(refused<ValueError>([&] { Model({.inputs = {other}, .outputs = {y}}); }) ==
             "[Model] inputs must hold every Input that the outputs depend on; [Input] is missing");
  BOOST_TEST(refused<ValueError>([&] {
               Model({.inputs = {Tensor({1, 4})}, .outputs = {y}});
             }) == "[Model] inputs: entry 0 must be an Input or another symbol; got a tensor");
  BOOST_TEST(
      refused<ValueError>([&] { Model({.inputs = {mean(y)}, .outputs = {y}}); }) ==
      "[Model] inputs: entry 0 must be a symbol with a batch axis, the only output of its op; got one of 1 outputs "
      "of mean, of shape ()");
  BOOST_TEST(refused<ValueError>([&] { Model({.inputs = {x}}); }) ==
             "[Functional] inputs and outputs are required; got 1 inputs and 0 outputs");
}

BOOST_AUTO_TEST_CASE(several_inputs_and_outputs) {
  auto a = Input({.shape = {2}});
  auto b = Input({.shape = {2}});
  Model model({.inputs = {a, b}, .outputs = {Add()({a, b}), a * 10, b}, .name = "both"});
  const Values out = model({Tensor({1, 2}, std::vector<float>{1, 2}), Tensor({1, 2}, std::vector<float>{3, 4})});
  BOOST_TEST_REQUIRE(out.size() == 3U);
  BOOST_TEST(out[0].tensor().to_doubles() == (std::vector<double>{4, 6}), boost::test_tools::per_element());
  BOOST_TEST(out[1].tensor().to_doubles() == (std::vector<double>{10, 20}), boost::test_tools::per_element());
  BOOST_TEST(out[2].tensor().to_doubles() == (std::vector<double>{3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_model_inside_another) {
  Model inner = digits();
  Sequential outer({inner, Dense({.units = 2})});
  outer.build({8, 6, 6, 1});
  BOOST_TEST(paths_of(outer) == "functional/dense/kernel functional/dense/bias dense/kernel dense/bias");
  BOOST_TEST(outer.weights()[0].id() == inner.weights()[0].id());
  BOOST_TEST(paths_of(Sequential({inner})) == "functional/dense/kernel functional/dense/bias");
  auto x = Input({.shape = {6, 6, 1}});
  Model nested({.inputs = {x}, .outputs = {Dense({.units = 1})(inner(x))}});
  BOOST_TEST(paths_of(nested) == "functional/dense/kernel functional/dense/bias dense/kernel dense/bias");
  const Tensor image = all_ones({2, 6, 6, 1});
  const Tensor before = nested(image).tensor();
  inner.weights()[1].assign(all_ones({10}));
  BOOST_TEST(!nested(image).tensor().equal(before));
}

BOOST_AUTO_TEST_CASE(a_shared_layer_is_one_set_of_weights) {
  auto x = Input({.shape = {2}});
  Dense shared({.units = 2, .use_bias = false});
  Model model({.inputs = {x}, .outputs = {shared(shared(x)) + x}});
  BOOST_TEST(paths_of(model) == "dense/kernel");
  model.weights()[0].assign(Tensor({2, 2}, std::vector<float>{0, 2, 2, 0}));
  BOOST_TEST(model(all_ones({1, 2})).tensor().to_doubles()[0] == 5.0);
}

BOOST_AUTO_TEST_CASE(what_a_layer_computes_of_its_weights_alone_follows_them) {
  auto x = Input({.shape = {1}});
  Model model({.inputs = {x}, .outputs = {ExpScale()(x)}});
  BOOST_TEST(model(all_ones({1, 1})).item() == 1.0);
  model.weights()[0].assign(Tensor::scalar(1));
  BOOST_TEST(model(all_ones({1, 1})).item() == 2.7182817F);
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  const auto before = values_of(model);
  model.fit(all_ones({2, 1}), Tensor({2, 1}), {.verbose = false});
  BOOST_TEST(changed_since(before, model) == "exp_scale/log_scale");
}

BOOST_AUTO_TEST_CASE(moving_statistics_move_in_training_only) {
  auto x = Input({.shape = {1}});
  Dense head({.units = 1});
  Model inner({.inputs = {x}, .outputs = {BatchNormalization()(x) * 2}});
  auto z = Input({.shape = {1}});
  Model model({.inputs = {z}, .outputs = {head(inner(z))}});
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  const Tensor numbers({4, 1}, std::vector<float>{1, 2, 3, 6});
  const auto before = values_of(model);
  model.evaluate(numbers, numbers);
  model.predict(numbers);
  model(numbers);
  BOOST_TEST(changed_since(before, model) == "");
  model.fit(numbers, numbers, {.verbose = false});
  BOOST_TEST(changed_since(before, model) ==
             "functional/batch_normalization/moving_mean functional/batch_normalization/moving_variance");
  const double mean = model.get_layer("functional/batch_normalization").weights()[2].value().item();
  BOOST_TEST(std::abs(mean - 0.03) < 1e-7);
}

// The second call reads what the first one wrote: 0.99 * 0.01 * 1 + 0.01 * 2.
BOOST_AUTO_TEST_CASE(a_layer_that_is_called_twice_updates_twice) {
  for (const bool inside : {false, true}) {
    BatchNormalization norm;
    const Input one({1}), a({1}), b({1});
    Model tower(one, norm(one));
    const Value ya = inside ? tower(a) : norm(a), yb = inside ? tower(b) : norm(b);
    Model model({a, b}, ya + yb);
    model.compile({.optimizer = SGD(0.0), .loss = "mse"});
    model.fit({ones({4, 1}), full({4, 1}, 2.0)}, zeros({4, 1}), {.batch_size = 4, .verbose = 0});
    BOOST_TEST(std::abs(norm.weights()[2].value().item() - 0.0299) < 1e-8);
  }
}

BOOST_AUTO_TEST_CASE(an_update_is_that_of_the_layer_that_made_it) {
  auto x = Input({.shape = {1}});
  Model model({.inputs = {x}, .outputs = {Dense({.units = 1})(Watches()(x))}});
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  model.fit(all_ones({2, 1}), all_ones({2, 1}), {.verbose = false});
  BOOST_TEST(model.get_layer("watches").weights()[0].value().item() == 1.0);
  Model frozen = clone(model);
  frozen.get_layer("watches").set_trainable(false);
  frozen.fit(Tensor({2, 1}), all_ones({2, 1}), {.verbose = false});
  BOOST_TEST(frozen.get_layer("watches").weights()[0].value().item() == 1.0);
}

BOOST_AUTO_TEST_CASE(a_model_on_a_part_of_another) {
  auto x = Input({.shape = {1}});
  auto y = Dense({.units = 3, .name = "low"})(BatchNormalization()(x));
  Model model({.inputs = {x}, .outputs = {Dense({.units = 1})(relu(y))}});
  Model features({.inputs = model.inputs(), .outputs = {model.get_layer("low").output()}});
  BOOST_TEST(to_string(features(Tensor({2, 1})).shape()) == "(2, 3)");
  BOOST_TEST(features.get_layer("low").weights()[0].id() == model.get_layer("low").weights()[0].id());
  features.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  const auto before = values_of(features);
  features.fit(all_ones({2, 1}), all_ones({2, 3}), {.verbose = false});
  BOOST_TEST(changed_since(before, features) == "batch_normalization/moving_mean batch_normalization/moving_variance");
  Sequential plain({Dense({.units = 1})});
  BOOST_TEST(
      refused<ValueError>([&] { plain.inputs(); }) ==
      "[Sequential] inputs(): the model must be functional, made from inputs and outputs; got one without symbols");
}

BOOST_AUTO_TEST_CASE(dropout_is_off_outside_of_training) {
  auto x = Input({.shape = {64}});
  Model model({.inputs = {x}, .outputs = {Dropout({.rate = 0.5})(x)}});
  BOOST_TEST(model(all_ones({1, 64})).tensor().equal(all_ones({1, 64})));
  BOOST_TEST(model.predict(all_ones({1, 64})).equal(all_ones({1, 64})));
}

// Keras 3.15 gives its weights in this order.
BOOST_AUTO_TEST_CASE(weights_of_branches_begin_with_the_longest) {
  const Input x({3}), y({3});
  const Value a = layers::Dense(4, {.name = "a"})(x);
  const Value c = layers::Dense(4, {.name = "c"})(layers::Dense(4, {.name = "b"})(y));
  const Value out = layers::Dense(2, {.name = "out"})(layers::concatenate({a, c}));
  Model model({x, y}, {out, layers::Dense(1, {.name = "side"})(a)});
  BOOST_TEST(paths_of(model) ==
             "b/kernel b/bias a/kernel a/bias c/kernel c/bias out/kernel out/bias side/kernel side/bias");
}

BOOST_AUTO_TEST_CASE(models_between_any_symbols) {
  const Value x = Input({4});
  const Value hidden = Dense(3, {.activation = "relu", .name = "first"})(x);
  const Value y = Dense(2, {.name = "second"})(hidden);
  Model whole(x, y), front(x, hidden), back(hidden, y);
  const Tensor in({5, 4}, std::vector<float>(20, 0.5F));
  BOOST_TEST(back(front(in)).tensor().equal(whole(in).tensor()));
  BOOST_TEST(back.weights().size() == 2U);
  Model of_layers(whole.get_layer("first").output(), whole.outputs().front());
  BOOST_TEST(of_layers(front(in)).tensor().equal(whole(in).tensor()));
  const auto again = model_from_json(back.to_json());
  BOOST_TEST(again->inputs().front().shape().back() == 3);
  // The front is left out of the back's training.
  back.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor before = whole.weights().front().value().copy();
  back.fit(Tensor({5, 3}), Tensor({5, 2}), {.verbose = false});
  BOOST_TEST(whole.weights().front().value().equal(before));
}

BOOST_AUTO_TEST_SUITE_END()
