#include <boost/test/unit_test.hpp>

#include "small.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

DataLoader data() { return DataLoader(pairs({1, 2, 3, 4}, {2, 3, 7, 7}), {.batch_size = 2}); }

Trainer quiet(Precision precision) {
  return Trainer({.max_epochs = 1, .precision = std::move(precision), .enable_progress_bar = false});
}

Sequential two_layers(double rate = 0.01) {
  seed_everything(5);
  Sequential model({Dense({.units = 4, .activation = "relu"}), BatchNormalization(), Dense({.units = 1})});
  model.compile({.optimizer = SGD({.learning_rate = rate, .momentum = 0.9}), .loss = "mse"});
  return model;
}

std::string dtypes_of(const Layer& layer) {
  std::string text;
  for (const Variable& weight : layer.weights()) text += std::string(dtype_name(weight.dtype())) + " ";
  return text;
}

/// A container with an op of its own around a layer that has its own policy.
class Gained : public Model {
 public:
  Gained() : Model("Gained") {}
  void build(const Shape&) override { add_weight(gain_, {.shape = {}, .initializer = Constant(1)}); }

 protected:
  Value call(const Value& x) override { return dense_(x) * gain_; }

 private:
  Variable gain_{"gain"};
  Dense dense_ = sub("dense", Dense({.units = 1, .dtype = "float32"}));
};

/// Logs its output, a number for each sample.
class Logging : public Module {
 public:
  Logging() : Module("Logging") {}
  void validation_step(const Batch& batch) override { log("out", line_(batch["x"])); }

 private:
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(trainer_precision)

BOOST_AUTO_TEST_CASE(it_holds_during_the_trainers_calls_only) {
  Sequential model = two_layers();
  quiet("bf16").fit(model, data());
  BOOST_TEST((model.get_layer("dense").compute_dtype() == DType::bfloat16));
  BOOST_TEST((model.weights()[0].dtype() == DType::float32));
  model.predict(column({1}));
  BOOST_TEST((model.get_layer("dense").compute_dtype() == DType::float32));
  quiet({}).validate(model, data());
  BOOST_TEST((model.get_layer("dense").compute_dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(true_forms_convert_the_variables_which_stay_so) {
  Sequential model = two_layers();
  model.build({2, 1});
  quiet("bf16-true").fit(model, data());
  const std::string converted = "bfloat16 bfloat16 float32 float32 float32 float32 bfloat16 bfloat16 ";
  BOOST_TEST(dtypes_of(model) == converted);
  const auto before = values_of(model);
  model.predict(column({1}));
  model.evaluate(column({1}), column({2}));
  BOOST_TEST(dtypes_of(model) == converted);
  BOOST_TEST(changed_since(before, model) == "");
  model.fit(column({1}), column({2}), {.verbose = false});
  BOOST_TEST(dtypes_of(model) == converted);
  quiet("64-true").validate(model, data());
  BOOST_TEST(dtypes_of(model).find("float32") == std::string::npos);
  BOOST_TEST(dtypes_of(model).find("bfloat16") == std::string::npos);
  quiet("bf16").validate(model, data());
  BOOST_TEST(dtypes_of(model).find("64") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(weights_are_made_in_the_dtype_that_it_asks_for) {
  Sequential model = two_layers();
  quiet("16-true").fit(model, data());
  BOOST_TEST(dtypes_of(model) == "float16 float16 float32 float32 float32 float32 float16 float16 ");
}

BOOST_AUTO_TEST_CASE(layers_with_a_policy_of_their_own_keep_it) {
  Sequential model({Dense({.units = 2, .name = "low"}), Dense({.units = 1, .name = "own", .dtype = "float32"})});
  model.compile({.loss = "mse"});
  quiet("bf16-true").fit(model, data());
  BOOST_TEST(dtypes_of(model) == "bfloat16 bfloat16 float32 float32 ");
}

BOOST_AUTO_TEST_CASE(a_precision_that_reaches_no_layer_is_refused) {
  Sequential inner({Dense({.units = 2})}, {.dtype = "mixed_bfloat16"});
  Sequential model({inner, Dense({.units = 1, .name = "head", .dtype = "float32"})});
  model.compile({.loss = "mse"});
  model.build({2, 1});
  const auto before = values_of(model);
  BOOST_TEST(refused<ValueError>([&] { quiet("16-true").fit(model, data()); }) ==
             "[Trainer] precision float16 must apply to a layer; got layers that all have a policy of their own: "
             "sequential (mixed_bfloat16), head (float32)");
  Sequential whole({Dense({.units = 1})}, {.dtype = "float64"});
  BOOST_TEST(refused<ValueError>([&] { quiet(32).predict(whole, data()); }) ==
             "[Trainer] precision float32 must apply to a layer; got layers that all have a policy of their own: "
             "Sequential (float64)");
  BOOST_TEST(changed_since(before, model) == "");
  quiet({}).fit(model, data());
}

BOOST_AUTO_TEST_CASE(a_container_with_weights_of_its_own_is_reached) {
  Gained model;
  model.compile({.loss = "mse"});
  model(column({1}));
  quiet("bf16-true").validate(model, data());
  BOOST_TEST((model.weights()[0].dtype() == DType::bfloat16));
  BOOST_TEST((model.weights()[1].dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(low_precision_computes_what_float32_does_within_its_rounding) {
  // At a learning rate of 0 all epochs are equal, except those in which the loss scale is still found.
  const auto loss = [](const char* precision, bool eager) {
    Sequential model = two_layers(0);
    const Trainer trainer({.max_epochs = 12, .precision = precision, .enable_progress_bar = false, .eager = eager});
    return trainer.fit(model, data()).history.at("loss").back();
  };
  const double expected = loss("32", false);
  struct Case {
    const char* precision;
    double error;
  };
  for (const Case& c : {Case{"bf16", 2e-2}, Case{"16-mixed", 2e-3}, Case{"bf16-true", 5e-2}, Case{"64", 1e-5}}) {
    for (const bool eager : {false, true}) {
      BOOST_TEST_CONTEXT(c.precision << (eager ? " eager" : " traced")) {
        BOOST_TEST(loss(c.precision, eager) == expected, tolerance(c.error));
      }
    }
  }
}

// A sum of 600 losses in bfloat16 would stop growing at 256 (Lightning #18620).
BOOST_AUTO_TEST_CASE(means_over_many_steps_are_right_in_bfloat16) {
  std::vector<double> x(600), y(600);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = i % 2 == 0 ? 1 : 2;
  Sequential model({Dense({.units = 1, .kernel_initializer = Constant(0)})});
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse", .metrics = {"mae"}});
  auto history = quiet("bf16-true").fit(model, DataLoader(pairs(x, y), {.batch_size = 1})).history;
  BOOST_TEST(history["loss"].at(0) == 2.5);
  BOOST_TEST(history["mae"].at(0) == 1.5);
  history = quiet("bf16-true").fit(model, DataLoader(pairs(x, y), {.batch_size = 600})).history;
  BOOST_TEST(history["loss"].at(0) == 2.5);
}

// bfloat16 can represent 256 and 258, but not 257.
BOOST_AUTO_TEST_CASE(what_is_logged_in_bfloat16_has_a_mean_in_float32) {
  for (const char* precision : {"bf16", "bf16-true"}) {
    Logging module;
    const auto logged = quiet(precision).validate(module, DataLoader(pairs({256, 258}, {0, 0}), {.batch_size = 2}));
    BOOST_TEST(logged.at("out") == 257, precision);
  }
}

BOOST_AUTO_TEST_CASE(a_refused_batch_does_not_round_the_weights) {
  Sequential model = two_layers();
  model.build({2, 1});
  const auto before = values_of(model);
  const DataLoader wide(Dataset::from_tensors({{"x", Tensor({2, 3})}, {"y", Tensor({2, 1}), Role::target}}));
  BOOST_CHECK_THROW(quiet("bf16-true").fit(model, wide), ShapeError);
  BOOST_CHECK_THROW(quiet("bf16-true").validate(model, wide), ShapeError);
  BOOST_CHECK_THROW(quiet("bf16-true").predict(model, wide), ShapeError);
  BOOST_TEST(changed_since(before, model) == "");
}

BOOST_AUTO_TEST_CASE(weights_that_float16_cannot_hold_are_refused) {
  Sequential model = two_layers();
  quiet("32-true").validate(model, data());
  model.weights()[1].assign(Tensor({4}, std::vector<float>{0, 0, 1e5F, 0}));
  BOOST_TEST(refused<ValueError>([&] { quiet("16-true").fit(model, data()); }) ==
             "[Trainer] precision: values of \"dense/bias\" must be finite in float16; got 100000");
  BOOST_TEST(model.weights()[1].value().to_doubles()[2] == 1e5);
  quiet("16-mixed").validate(model, data());
}

BOOST_AUTO_TEST_SUITE_END()
