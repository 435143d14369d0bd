#include <boost/test/unit_test.hpp>

#include "small.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const DataLoader loader() { return DataLoader(pairs({1, 2}, {2, 4}), {.batch_size = 2}); }

Model two_outputs() {
  const Input x({.shape = {1}});
  const Value first = Dense({.units = 1})(x), second = Dense({.units = 1})(x);
  return Model({.inputs = {x}, .outputs = {first, second}});
}

const std::string needed =
    ": the model must have one output; got 2: make a Model of one of them, or a Module with steps of its own";

/// left - 2 right
Model difference(const std::string& left, const std::string& right) {
  const Input a({.shape = {1}, .name = left}), b({.shape = {1}, .name = right});
  const Value y = a - 2 * b;
  return Model({.inputs = {a, b}, .outputs = {y}});
}

/// Fields in another order than the model's inputs.
DataLoader fields(const std::string& first, const std::string& second) {
  return DataLoader(Dataset::from_tensors({{first, column({1, 2})}, {second, column({10, 20})}}), {.batch_size = 2});
}

std::vector<double> predicted(Model model, const DataLoader& data) { return model.predict(data).to_doubles(); }

/// A module of its own class with two outputs.
class Pair : public Module {
 public:
  Pair() : Module("Pair") {}

 protected:
  Values call_many(const Values& xs) override { return {xs[0], xs[0] * 2}; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(several_outputs)

BOOST_AUTO_TEST_CASE(are_neither_trained_nor_predicted_in_part) {
  Model model = two_outputs();
  model.compile({.loss = "mse"});
  const std::vector<double> before = model.weights()[0].value().to_doubles();
  const std::string compiled = "[Functional] a compiled model" + needed;
  check_throws<ValueError>(compiled, [&] { model.fit(loader()); });
  check_throws<ValueError>(compiled, [&] { model.evaluate(loader()); });
  check_throws<ValueError>(compiled, [&] { Trainer({.max_epochs = 1}).fit(model, loader()); });
  check_throws<ValueError>("[Functional] predict" + needed, [&] { model.predict(loader()); });
  check_throws<ValueError>("[Functional] predict" + needed, [&] { model.predict(column({1, 2})); });
  BOOST_TEST(model.weights()[0].value().to_doubles() == before);
}

BOOST_AUTO_TEST_CASE(of_a_module_need_a_predict_step) {
  Pair module;
  check_throws<ValueError>("[Pair] predict" + needed, [&] { Trainer().predict(module, loader()); });
}

BOOST_AUTO_TEST_CASE(one_of_them_makes_a_model) {
  Model both = two_outputs();
  Model one({.inputs = both.inputs(), .outputs = {both.outputs()[1]}});
  one.compile({.loss = "mse"});
  one.fit(loader(), {.verbose = false});
  BOOST_TEST(one.predict(column({1, 2})).size() == 2);
}

BOOST_AUTO_TEST_CASE(named_inputs_take_the_fields_of_their_names) {
  const std::vector<double> expected{1 - 2 * 10, 2 - 2 * 20}, swapped{10 - 2 * 1, 20 - 2 * 2};
  BOOST_TEST(predicted(difference("left", "right"), fields("left", "right")) == expected);
  BOOST_TEST(predicted(difference("left", "right"), fields("right", "left")) == swapped);
  BOOST_TEST(predicted(difference("left", ""), fields("right", "left")) == swapped);
  BOOST_TEST(predicted(difference("", "left"), fields("left", "right")) == swapped);
  BOOST_TEST(predicted(difference("", ""), fields("right", "left")) == expected);
  const Model model = difference("left", "right");
  BOOST_TEST(predicted(Model({.inputs = model.inputs(), .outputs = model.outputs()}), fields("right", "left")) ==
             swapped);
}

BOOST_AUTO_TEST_CASE(named_inputs_take_the_fields_of_their_names_in_training) {
  const Input a({.shape = {1}, .name = "a"}), b({.shape = {1}, .name = "b"});
  Model model({.inputs = {a, b}, .outputs = {a + 0 * Dense({.units = 1})(b)}});
  model.compile({.optimizer = SGD({.learning_rate = 1e-6}), .loss = "mae"});
  const Dataset data =
      Dataset::from_tensors({{"b", column({5, 5})}, {"a", column({1, 2})}, {"y", column({1, 2}), Role::target}});
  BOOST_TEST(model.evaluate(DataLoader(data, {.batch_size = 2})).at("loss") == 0);
  const History history = model.fit(DataLoader(data, {.batch_size = 2}), {.verbose = false});
  BOOST_TEST(history.history.at("loss")[0] == 0);
}

BOOST_AUTO_TEST_CASE(a_named_input_without_a_field_is_an_error) {
  check_throws<NameError>(
      "[Functional] a batch must have an input field for each named Input; got none for \"right\"; fields: other",
      [] { predicted(difference("left", "right"), fields("left", "other")); });
  Model model = difference("left", "right");
  check_throws<NameError>(
      "[Functional] a batch must have an input field for each named Input; got none for \"left\"; fields: x",
      [&] { model.predict(column({1})); });
  check_throws<ValueError>("[Functional] number of inputs must be 2; got 1", [] {
    Model unnamed = difference("", "");
    unnamed.predict(column({1}));
  });
}

BOOST_AUTO_TEST_CASE(a_single_input_takes_a_field_of_any_name) {
  const Input image({.shape = {1}, .name = "image"});
  Model model({.inputs = {image}, .outputs = {image * 3}});
  BOOST_TEST(model.predict(column({1, 2})).to_doubles() == (std::vector<double>{3, 6}));
}

BOOST_AUTO_TEST_SUITE_END()
