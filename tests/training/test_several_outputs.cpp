#include <boost/test/unit_test.hpp>

#include <map>
#include <sstream>

#include "small.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

const DataLoader loader() { return DataLoader(pairs({1, 2}, {2, 4}), {.batch_size = 2}); }

/// Outputs a and b: x times two numbers.
Model scales(double a, double b) {
  const Input x({.shape = {1}});
  const auto scale = [&](double number, const char* name) {
    return Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(number), .name = name})(x);
  };
  return Model({.inputs = {x}, .outputs = {scale(a, "a"), scale(b, "b")}});
}

Model two_outputs() {
  const Input x({.shape = {1}});
  const Value first = Dense({.units = 1})(x), second = Dense({.units = 1})(x);
  return Model({.inputs = {x}, .outputs = {first, second}});
}

const std::string needed = ": the model must have one output; got 2: predict_all of a Model returns all";

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

BOOST_AUTO_TEST_CASE(a_call_with_a_value_is_refused) {
  Model model = scales(2, 3);
  const Tensor x = column({1, 2});
  check_throws<ValueError>(
      "[Functional] a call with a Value needs a model with one output; got 2; model(Values{x}) returns all",
      [&] { model(x); });
  BOOST_TEST(model(Values{x}).at(1).tensor().to_doubles() == (std::vector<double>{3, 6}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(are_all_trained_and_logged) {
  for (const bool eager : {false, true}) {
    Model model = scales(2, 3);
    BOOST_TEST(model.output_names() == (std::vector<std::string>{"a", "b"}));
    model.compile({.optimizer = SGD({.learning_rate = 0.1}),
                   .loss = {"mse", "mae"},
                   .loss_weights = {{"b", 0.5}},
                   .metrics = {{"a", "mae"}, {"b", {"mse", metrics::RootMeanSquaredError({.name = "root"})}}}});
    const Dataset data = Dataset::from_tensors(
        {{"x", column({1, 2})}, {"b", column({1, 1}), Role::target}, {"a", column({1, 3}), Role::target}});
    // a: (2 - 1)^2, (4 - 3)^2; b: |3 - 1|, |6 - 1|.
    const Logs logs = Trainer({.eager = eager}).validate(model, DataLoader(data, {.batch_size = 1}));
    std::ostringstream text;
    text << logs;
    BOOST_TEST(text.str() == "loss=2.75 a_loss=1 b_loss=3.5 a_mae=1 b_mse=14.5 b_root=3.80789");
    const Logs trained = model.train_on_batch(column({1, 2}), {{"a", column({1, 3})}, {"b", column({1, 1})}});
    BOOST_TEST(trained["loss"] == 2.75);
    // Gradients: a: mean(2 (2 - 1) 1, 2 (4 - 3) 2) = 3; b: half of mean(1, 2) = 0.75.
    BOOST_TEST(model.weights()[0].value().item() == 2 - 0.1 * 3, tolerance(1e-6));
    BOOST_TEST(model.weights()[1].value().item() == 3 - 0.1 * 0.75, tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(are_all_predicted) {
  Model model = scales(2, 3);
  const Tensors all = model.predict_all(column({1, 2, 3}), {.batch_size = 2});
  BOOST_TEST(all["a"].to_doubles() == (std::vector<double>{2, 4, 6}));
  const auto [a, b] = all.unpack<2>();
  BOOST_TEST(b.to_doubles() == (std::vector<double>{3, 6, 9}));
  BOOST_TEST(all[0].equal(a));
  check_throws<NameError>("[Tensors] unknown name \"c\"; valid names: a, b", [&] { all["c"]; });
  check_throws<ValueError>("[Tensors] unpack: the number of arrays must be 3; got 2", [&] { all.unpack<3>(); });
  check_throws<ValueError>("[Functional] predict" + needed, [&] { model.predict(loader()); });
  check_throws<ValueError>("[Functional] predict" + needed, [&] { model.predict(column({1, 2})); });
}

BOOST_AUTO_TEST_CASE(take_targets_as_lists_by_name_and_for_trained_outputs_only) {
  Model model = scales(2, 3);
  const Tensor x = column({1, 2}), ones = column({1, 1}), twos = column({2, 2});
  model.compile({.loss = "mae"});
  const double expected = (1 + 3) / 2.0 + (1 + 4) / 2.0;
  BOOST_TEST(model.evaluate(x, {ones, twos})["loss"] == expected);
  BOOST_TEST(model.evaluate(x, {{"b", twos}, {"a", ones}})["loss"] == expected);
  check_throws<ValueError>("[Functional] number of target arrays must be 2; got 1", [&] { model.evaluate(x, ones); });
  check_throws<NameError>("[Functional] unknown target \"c\"; valid names: a, b", [&] {
    model.evaluate(x, {{"a", ones}, {"c", twos}});
  });
  check_throws<NameError>("[Functional] target by name must be complete; got none for \"b\"; names: a", [&] {
    model.evaluate(x, {{"a", ones}});
  });
  check_throws<NameError>(
      "[Functional] a batch must have a target field for each output with a loss or metric; got none for \"a\"; "
      "targets: y",
      [&] { model.evaluate(loader()); });
  model.compile({.loss = {{"a", "mae"}, {"b", {}}}});
  BOOST_TEST(model.evaluate(x, ones)["loss"] == 2);
  BOOST_TEST(model.evaluate(x, {ones, twos})["loss"] == 2);
  BOOST_TEST(model.evaluate(x, ones).size() == 1U);
}

BOOST_AUTO_TEST_CASE(of_compile_are_checked) {
  Model model = scales(2, 3);
  check_throws<ValueError>("[Functional] compile: the number of losses must be that of the outputs, 2; got 3", [&] {
    model.compile({.loss = {"mse", "mae", "mse"}});
  });
  check_throws<NameError>("[Functional] unknown output in compile: losses: \"c\"; valid names: a, b", [&] {
    model.compile({.loss = {{"a", "mse"}, {"c", "mse"}}});
  });
  check_throws<ValueError>(
      "[Functional] compile: losses by name must name every output; got none for \"b\" (an empty one leaves it "
      "untrained)",
      [&] {
        model.compile({.loss = {{"a", "mse"}}});
      });
  check_throws<NameError>("[Functional] unknown output in compile: metrics: \"c\"; valid names: a, b", [&] {
    model.compile({.loss = "mse", .metrics = {{"c", "mae"}}});
  });
  check_throws<ValueError>(
      "[Functional] compile: metrics of a model with 2 outputs must be a list with an entry for each, or by name (a, "
      "b); got 1 entries",
      [&] { model.compile({.loss = "mse", .metrics = {"mae"}}); });
  check_throws<ValueError>("[Functional] compile: reduction of a loss must give one number; got \"none\" of mae",
                           [&] { model.compile({.loss = MeanAbsoluteError({.reduction = "none", .name = "mae"})}); });
  const Input x({.shape = {1}});
  Model named({.inputs = {x}, .outputs = {Dense({.units = 1, .name = "val"})(x), Dense({.units = 1, .name = "b"})(x)}});
  check_throws<NameError>(
      "[Functional] compile: \"val_loss\" must have a name other than that of \"loss\" in validations; rename the "
      "output",
      [&] { named.compile({.loss = "mse"}); });
  model.compile({.loss = "mse", .metrics = {"mae", {"mae", "mse"}}});
  BOOST_TEST(model.evaluate(column({1}), {column({1}), column({1})}).size() == 6U);
}

BOOST_AUTO_TEST_CASE(have_sample_weights_of_their_own) {
  Model model = scales(1, 1);
  model.compile({.loss = "mae", .metrics = {"mae", "mae"}, .weighted_metrics = {"mae", "mae"}});
  const Tensor x = column({1, 3}), zero = column({0, 0});
  const Tensor first({2}, std::vector<float>{1, 0}), second({2}, std::vector<float>{0, 2});
  const Logs both = model.evaluate(x, {zero, zero}, {.sample_weight = first});
  BOOST_TEST(both["a_loss"] == 0.5);
  BOOST_TEST(both["b_loss"] == 0.5);
  BOOST_TEST(both["b_mae"] == 2);
  BOOST_TEST(both["b_weighted_mae"] == 1);
  const Logs own = model.evaluate(x, {zero, zero}, {.batch_size = 1, .sample_weight = {first, second}});
  BOOST_TEST(own["a_loss"] == 0.5);
  BOOST_TEST(own["b_loss"] == 3);
  BOOST_TEST(own["b_weighted_mae"] == 3);
  BOOST_TEST(model.evaluate(x, {zero, zero}, {.sample_weight = {{"b", second}}})["a_loss"] == 2);
  check_throws<NameError>("[Functional] unknown sample_weight \"c\"; valid names: a, b", [&] {
    model.evaluate(x, {zero, zero}, {.sample_weight = {{"c", second}}});
  });
}

BOOST_AUTO_TEST_CASE(of_a_model_class_are_in_order) {
  class Both : public Model {
   public:
    Both() : Model("Both") {}

   protected:
    Values call_many(const Values& xs) override { return {xs[0] * scale_, xs[0]}; }
    void build(const Shape&) override { add_weight(scale_, {.shape = {1}, .initializer = Constant(2)}); }

   private:
    Variable scale_{"scale"};
  };
  Both model;
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = {"mae", "mse"}});
  const Logs logs = model.evaluate(column({1, 2}), {column({0, 0}), column({0, 0})});
  BOOST_TEST(logs["output_1_loss"] == 3);
  BOOST_TEST(logs["output_2_loss"] == 2.5);
  BOOST_TEST(model.predict_all(column({1, 2}))["output_1"].to_doubles() == (std::vector<double>{2, 4}));
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
  check_throws<ValueError>("[Functional] number of input arrays must be 2; got 1", [&] { model.predict(column({1})); });
  check_throws<ValueError>("[Functional] number of input arrays must be 2; got 1", [] {
    Model unnamed = difference("", "");
    unnamed.predict(column({1}));
  });
}

BOOST_AUTO_TEST_CASE(inputs_are_lists_in_order_or_have_names) {
  Model model = difference("left", "right");
  const Tensor one = column({1}), ten = column({10});
  BOOST_TEST(model.predict({one, ten}).item() == -19);
  BOOST_TEST(model.predict({{"right", one}, {"left", ten}}).item() == 8);
  BOOST_TEST(model.predict(std::map<std::string, Tensor>{{"left", one}, {"right", ten}}).item() == -19);
  BOOST_TEST(model.predict_on_batch({one, ten}).item() == -19);
  check_throws<NameError>("[Functional] unknown input \"up\"; valid names: left, right", [&] {
    model.predict({{"left", one}, {"up", ten}});
  });
  check_throws<NameError>("[Functional] input by name must be complete; got none for \"right\"; names: left", [&] {
    model.predict({{"left", one}});
  });
}

BOOST_AUTO_TEST_CASE(a_single_input_takes_a_field_of_any_name) {
  const Input image({.shape = {1}, .name = "image"});
  Model model({.inputs = {image}, .outputs = {image * 3}});
  BOOST_TEST(model.predict(column({1, 2})).to_doubles() == (std::vector<double>{3, 6}));
}

BOOST_AUTO_TEST_CASE(losses_that_layers_add_need_no_other) {
  const Value x = Input({2});
  const Value y = ActivityRegularization({.l2 = 0.5})(Dense(1, {.use_bias = false, .kernel_initializer = "ones"})(x));
  Model model(x, y);
  model.compile({.optimizer = SGD({.learning_rate = 0.1})});
  const Tensor in({2, 2}, std::vector<float>{1, 1, 1, 1});
  const double before = model.evaluate(in, Tensors{})["loss"];
  const History history = model.fit(in, Tensors{}, {.epochs = 3, .verbose = false});
  BOOST_TEST(history.history.at("loss").front() == before);
  BOOST_TEST(history.history.at("loss").back() < before);
  Model without(x, Dense(1)(x));
  check_throws<ValueError>("[Functional] compile: loss is required; got none", [&] { without.compile({}); });
}

namespace {

/// plus - minus and plus + minus, as a class of models.
class Both : public Model {
 public:
  explicit Both(bool named) : Model("Both") {
    if (!named) return;
    set_input_names({"plus", "minus"});
    set_output_names({"difference", "sum"});
  }
  using Model::set_input_names;

 protected:
  Values call_many(const Values& xs) override { return {(xs[0] - xs[1]) * scale_, xs[0] + xs[1]}; }
  void build(const Shape&) override { add_weight(scale_, {.shape = {1}, .initializer = "ones"}); }

 private:
  Variable scale_{"scale"};
};

}  // namespace

BOOST_AUTO_TEST_CASE(classes_of_models_take_arrays_by_name) {
  const Tensor three = column({3, 3}), one = column({1, 1}), two = column({2, 2}), four = column({4, 4});
  Both model(true);
  model.compile({.optimizer = SGD({.learning_rate = 0}),
                 .loss = {{"sum", "mae"}, {"difference", "mse"}},
                 .metrics = {{"sum", "mae"}}});
  const Tensors x{{"minus", one}, {"plus", three}}, y{{"sum", column({5, 5})}, {"difference", column({4, 4})}};
  const History history = model.fit(x, y, {.verbose = false, .validation_data = {x, y}});
  BOOST_TEST(history.history.at("difference_loss").back() == 4);
  BOOST_TEST(history.history.at("sum_loss").back() == 1);
  BOOST_TEST(history.history.at("val_sum_mae").back() == 1);
  BOOST_TEST(model.evaluate(x, y)["loss"] == 5);
  BOOST_TEST(model.train_on_batch(x, y, {.sample_weight = {{"sum", Tensor({2})}}})["loss"] == 4);
  BOOST_TEST(model.test_on_batch({{"plus", three}, {"minus", one}}, y)["loss"] == 5);
  const Tensors outputs = model.predict_all(x);
  BOOST_TEST(outputs["difference"].to_doubles() == two.to_doubles());
  BOOST_TEST(outputs["sum"].to_doubles() == four.to_doubles());
  BOOST_TEST(model.predict_all({three, one})["difference"].to_doubles() == two.to_doubles());
  const Dataset data = Dataset::from_tensors({{"minus", one}, {"plus", three}});
  BOOST_TEST(model.predict_all(data)["difference"].to_doubles() == two.to_doubles());
  check_throws<NameError>("[Both] unknown input \"times\"; valid names: plus, minus", [&] {
    model.predict_all({{"times", one}, {"plus", three}});
  });
  check_throws<NameError>("[Both] input by name must be complete; got none for \"minus\"; names: plus", [&] {
    model.predict_all({{"plus", three}});
  });
  check_throws<NameError>("[Both] unknown target \"product\"; valid names: difference, sum", [&] {
    model.evaluate(x, {{"product", one}, {"sum", one}});
  });
  check_throws<NameError>("[Both] unknown sample_weight \"product\"; valid names: difference, sum", [&] {
    model.fit(x, y, {.verbose = false, .sample_weight = {{"product", Tensor({2})}}});
  });
  check_throws<NameError>("[Both] unknown output in compile: losses: \"product\"; valid names: difference, sum", [&] {
    model.compile({.loss = {{"product", "mae"}, {"sum", "mse"}}});
  });
}

BOOST_AUTO_TEST_CASE(classes_of_models_without_names_refuse_an_order_by_chance) {
  const Tensor one = column({1, 1});
  Both model(false);
  model.compile({.loss = {"mae", "mae"}});
  check_throws<NameError>(
      "[Both] several input arrays by name need set_input_names() in the constructor of the model, which gives their "
      "order in the model; got minus, plus",
      [&] {
        model.predict_all({{"minus", one}, {"plus", one}});
      });
  check_throws<NameError>(
      "[Both] several target arrays by name need set_output_names() in the constructor of the model, which gives their "
      "order in the model; got sum, difference",
      [&] {
        model.evaluate({one, one}, {{"sum", one}, {"difference", one}});
      });
  BOOST_TEST(model.evaluate({one, one}, {{"output_2", column({2, 2})}, {"output_1", column({0, 0})}})["loss"] == 0);
  check_throws<ValueError>("[Both] set_input_names(): names must differ and not be empty; got \"a\"", [&] {
    model.set_input_names({"a", "a"});
  });
}

BOOST_AUTO_TEST_CASE(arrays_by_name_reach_the_steps_of_classes_of_models) {
  class Halved : public Model {
   public:
    Halved() : Model("Halved") {}
    Value training_step(const Batch& batch) override {
      log("seen", mean(batch["text"]));
      return mean_squared_error(batch["label"], (*this)(batch["text"]));
    }

   protected:
    Value call(const Value& x) override { return x * scale_; }
    void build(const Shape&) override { add_weight(scale_, {.shape = {1}, .initializer = Constant(0.5)}); }

   private:
    Variable scale_{"scale"};
  };
  Halved model;
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mae"});
  const History history = model.fit({{"text", column({2, 2})}}, {{"label", column({1, 1})}}, {.verbose = false});
  BOOST_TEST(history.history.at("seen").back() == 2);
  BOOST_TEST(history.history.at("loss").back() == 0);
  BOOST_TEST(model.evaluate({{"text", column({2, 2})}}, {{"label", column({3, 3})}})["loss"] == 2);
  BOOST_TEST(model.predict({{"text", column({2, 4})}}).to_doubles() == (std::vector<double>{1, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
