#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <sstream>

#include "small.hpp"
#include "support/refused.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;
using Numbers = std::vector<double>;

namespace {

/// Counts samples, and the largest total of a batch: state of two kinds.
class Count : public Metric {
 public:
  Count() : Metric("count") { add_state(count_, {}); }
  Value result() const override { return count_; }

 protected:
  void update(const Value& y_true, const Value&, const Value&) override {
    assign(count_, count_ + sum(cast(equal(y_true, y_true), DType::float64)));
  }

 private:
  Variable count_{"count"};
};

const Numbers xs{1, 2, 3, 4, 5}, ys{2, 3, 7, 7, 12};

std::string text(const Logs& logs) {
  std::ostringstream out;
  out << logs;
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compiled)

BOOST_AUTO_TEST_CASE(metrics_have_a_state_of_each_epoch_and_of_validation) {
  for (const bool eager : {false, true}) {
    Sequential model = line(0.5);
    Count count;
    model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse", .metrics = {count, "mae"}});
    const DataLoader train(pairs(xs, ys), {.batch_size = 2}), test(pairs({1, 2, 3}, {0, 0, 0}), {.batch_size = 2});
    const History history =
        Trainer({.max_epochs = 2, .enable_progress_bar = false, .eager = eager}).fit(model, train, test);
    BOOST_TEST(history["count"] == (Numbers{5, 5}));
    BOOST_TEST(history["val_count"] == (Numbers{3, 3}));
    BOOST_TEST(history["mae"][1] == (1.5 + 2 + 5.5 + 5 + 9.5) / 5, tolerance(1e-6));
    BOOST_TEST(history["val_mae"][1] == 1);
    BOOST_TEST(count.result().item() == 5);  // validation keeps the numbers of the epoch
    BOOST_TEST(model.evaluate(test)["count"] == 3);
  }
}

BOOST_AUTO_TEST_CASE(metrics_are_neither_weights_nor_trained) {
  Sequential model = line(0.5);
  model.compile({.loss = "mse", .metrics = {metrics::AUC(), metrics::MeanSquaredError({.name = "twin"})}});
  model.fit(column({0, 1, 1, 0}), column({0, 1, 1, 0}), {.verbose = false});
  BOOST_TEST(model.weights().size() == 1U);
}

BOOST_AUTO_TEST_CASE(metrics_compute_in_float64_under_any_policy) {
  // 4097 of 8192 hits would be 4096 / 8192 in a bfloat16 or float16 sum.
  std::vector<float> targets(8192, 0);
  std::fill(targets.begin(), targets.begin() + 4097, 1.0F);
  for (const char* policy : {"mixed_bfloat16", "mixed_float16", "bfloat16"}) {
    Sequential model({Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)})}, {.dtype = policy});
    model.compile({.loss = "mse", .metrics = {"binary_accuracy"}});
    const Tensor y({8192, 1}, targets), x({8192, 1}, std::vector<float>(8192, 1));
    BOOST_TEST(model.evaluate(x, y, {.batch_size = 4096})["binary_accuracy"] == 4097 / 8192.0);
  }
}

BOOST_AUTO_TEST_CASE(a_metric_of_several_numbers_is_refused_before_a_step) {
  Sequential model = line(0.5);
  model.compile({.loss = "mse", .metrics = {metrics::Precision({.thresholds = {0.3, 0.7}})}});
  check_throws<ShapeError>(
      "[Module] log(\"precision\", ...): the result of the metric must be one number; got shape (2,)",
      [&] { model.fit(column(xs), column(ys), {.verbose = false}); });
  BOOST_TEST(weight_of(model) == 0.5);
}

BOOST_AUTO_TEST_CASE(a_module_logs_metrics_of_its_own) {
  class Counting : public Module {
   public:
    Counting() : Module("Counting") {}
    Value training_step(const Batch& batch) override { return mean(line_(batch["x"])); }
    void validation_step(const Batch& batch) override {
      error_.update_state(batch["y"], line_(batch["x"]));
      log("error", error_, {.prog_bar = true});
    }

   private:
    Sequential line_ = sub("line", line(1));
    metrics::RootMeanSquaredError error_;
  };
  Counting module;
  const DataLoader loader(pairs({1, 2, 4}, {0, 0, 0}), {.batch_size = 2});
  for (int i = 0; i < 2; ++i)
    BOOST_TEST(Trainer().validate(module, loader)["error"] == std::sqrt(7.0), tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(losses_and_metrics_are_functions_too) {
  Sequential model = line(0.5);
  const auto cube = [](const Value& y_true, const Value& y_pred) {
    const Value error = abs(y_true - y_pred);
    return error * error * error;
  };
  model.compile({.loss = cube, .metrics = {MeanMetricWrapper(cube, {.name = "cube"}), mean_squared_error}});
  BOOST_TEST(text(model.evaluate(column({2, 4}), column({0, 0}))) == "loss=4.5 cube=4.5 metric=2.5");
  model.compile({.loss = mean_squared_error});
  BOOST_TEST(model.evaluate(column({2, 4}), column({0, 0}))["loss"] == 2.5);
  model.compile({.loss = binary_crossentropy});
  BOOST_TEST(model.evaluate(column({1}), column({1}))["loss"] == std::log(2.0), tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(class_weights_are_factors_of_the_loss) {
  const Tensor x = column({1, 2, 3, 4}), y = column({0, 1, 1, 2});
  const Tensor one_hot({4, 3}, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1});
  const std::map<std::int64_t, double> weights{{1, 2}, {2, 0}};
  Sequential model = line(1);
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse", .weighted_metrics = {"mae"}});
  const double expected = (1 + 2 * 1 + 2 * 4) / 4.0;
  const History history = model.fit(
      x, y, {.verbose = false, .validation_data = {x, y}, .class_weight = weights, .validation_batch_size = 3});
  BOOST_TEST(history["loss"][0] == expected);
  BOOST_TEST(history["mae"][0] == (1 + 2 * 1 + 2 * 2) / 5.0, tolerance(1e-6));
  BOOST_TEST(history["val_loss"][0] == (1 + 1 + 4 + 4) / 4.0);
  const DataLoader loader(pairs({1, 2, 3, 4}, {0, 1, 1, 2}), {.batch_size = 4});
  BOOST_TEST(model.fit(loader, {.verbose = false, .class_weight = weights})["loss"][0] == expected);
  BOOST_TEST(model.train_on_batch(x, y, {.class_weight = weights})["loss"] == expected);
  Sequential scores({Dense({.units = 3, .kernel_initializer = Constant(0)})});
  scores.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  BOOST_TEST(scores.train_on_batch(x, one_hot, {.class_weight = weights})["loss"] == (1 + 2 + 2 + 0) / 3.0 / 4,
             tolerance(1e-6));
  for (const double wrong : {std::nan(""), -1.0, std::numeric_limits<double>::infinity()}) {
    const std::string text = refused<ValueError>([&] { model.train_on_batch(x, y, {.class_weight = {{2, wrong}}}); });
    BOOST_TEST(text.find("class_weight must have finite weights of 0 or more; got ") != std::string::npos, text);
    BOOST_TEST(text.ends_with(" for class 2"), text);
  }
  check_throws<ValueError>(
      "[Sequential] fit: class_weight must have classes from 0 to 2, as targets of shape (3,) have; got class 5", [&] {
        scores.fit(x, one_hot, {.verbose = false, .class_weight = {{1, 2.0}, {5, 2.0}}});
      });
  Sequential binary({Dense({.units = 1, .activation = "sigmoid"})});
  binary.compile({.loss = "binary_crossentropy"});
  check_throws<ValueError>(
      "[Sequential] train_on_batch: class_weight must have the classes 0 and 1 for a binary crossentropy; got class 5",
      [&] {
        binary.train_on_batch(x, column({0, 1, 1, 0}), {.class_weight = {{5, 2.0}}});
      });
  check_throws<ValueError>(
      "[Sequential] fit: class_weight and sample_weight must not be given together; got both",
      [&] { model.fit(x, y, {.verbose = false, .class_weight = weights, .sample_weight = Tensor({4})}); });
  check_throws<ValueError>(
      "[Sequential] fit: class_weight needs targets of shape (), (1,) or (classes,) for a sample; "
      "got shape (2, 2)",
      [&] {
        model.fit(x, Tensor({4, 2, 2}), {.verbose = false, .class_weight = weights});
      });
}

BOOST_AUTO_TEST_CASE(validation_data_have_weights_and_come_in_all_forms) {
  Sequential model = line(1);
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mae"});
  const Tensor x = column({1, 3}), zero = column({0, 0}), weight({2}, std::vector<float>{1, 0});
  const auto validated = [&](const ValidationData& data) {
    return model.fit(x, zero, {.verbose = false, .validation_data = data})["val_loss"][0];
  };
  BOOST_TEST(validated({x, zero}) == 2);
  BOOST_TEST(validated({{x, zero}}) == 2);
  BOOST_TEST(validated({x, zero, weight}) == 0.5);
  BOOST_TEST(validated(pairs({1, 3}, {0, 0})) == 2);
  BOOST_TEST(validated(DataLoader(pairs({5}, {0}))) == 5);
  BOOST_TEST(model.fit(pairs({1, 3}, {0, 0}), {.verbose = false, .validation_split = 0.5})["val_loss"][0] == 3);
  BOOST_TEST(model.evaluate(pairs({1, 3}, {0, 0}))["loss"] == 2);
  BOOST_TEST(model.predict(pairs({1, 3}, {0, 0})).to_doubles() == (Numbers{1, 3}));
  check_throws<ValueError>(
      "[Sequential] fit: a Dataset has sample weights as fields of Role::weight; got sample_weight",
      [&] { model.fit(pairs({1}, {0}), {.verbose = false, .sample_weight = weight}); });
}

BOOST_AUTO_TEST_CASE(single_batches_are_trained_and_tested) {
  Sequential model = line(0.5);
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse", .metrics = {"mae"}});
  const Logs logs = model.train_on_batch(column(xs), column(ys));
  BOOST_TEST(logs["loss"] == squared_error(0.5, xs, ys), tolerance(1e-6));
  BOOST_TEST(weight_of(model) == stepped(0.5, 0.01, xs, ys), tolerance(1e-5));
  const double weight = weight_of(model);
  for (int i = 0; i < 2; ++i) {  // metrics begin anew
    const Logs tested = model.test_on_batch(column({1, 2}), column({0, 0}));
    BOOST_TEST(tested["mae"] == weight * 1.5, tolerance(1e-6));
  }
  check_throws<ValueError>("[Sequential] train_on_batch: the model must be compiled; got one without a loss",
                           [] { line(1).train_on_batch(column({1}), column({1})); });
}

BOOST_AUTO_TEST_CASE(compute_loss_is_a_hook) {
  class Doubled : public Model {
   public:
    Doubled() : Model("Doubled") {}
    Value compute_loss(const Values& x, const Values& y, const Values& y_pred, const Values& weight) override {
      return Model::compute_loss(x, y, y_pred, weight) * 2;
    }

   protected:
    Value call(const Value& x) override { return line_(x); }

   private:
    Sequential line_ = sub("line", line(0.5));
  };
  Doubled model;
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  BOOST_TEST(model.evaluate(column(xs), column(ys))["loss"] == 2 * squared_error(0.5, xs, ys), tolerance(1e-6));
  model.fit(column(xs), column(ys), {.verbose = false});
  BOOST_TEST(weight_of(model) == stepped(0.5, 0.02, xs, ys), tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(a_skipped_step_leaves_metrics_as_they_are) {
  Sequential model({Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)})},
                   {.dtype = "mixed_float16"});
  Count count;
  // The first batch overflows float16, the second does not.
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse", .metrics = {count}});
  const DataLoader loader(pairs({60000, 1, 1}, {0, 0, 0}), {.batch_size = 1});
  const History history = model.fit(loader, {.verbose = false});
  BOOST_TEST(history["count"][0] == 3 - history["skipped_steps"][0]);
  BOOST_TEST(history["skipped_steps"][0] >= 1);
}

BOOST_AUTO_TEST_CASE(logs_and_history_refuse_unknown_names) {
  Logs logs{{"loss", 0.25}, {"accuracy", 0.9}};
  BOOST_TEST(text(logs) == "loss=0.25 accuracy=0.9");
  BOOST_TEST(logs.contains("loss"));
  check_throws<NameError>("[Logs] unknown name \"acuracy\"; valid names: loss, accuracy; nearest: \"accuracy\"",
                          [&] { logs["acuracy"]; });
  logs.set("loss", 1);
  logs.set("mae", 2);
  BOOST_TEST((logs == Logs{{"mae", 2}, {"loss", 1}, {"accuracy", 0.9}}));
  check_throws<NameError>("[Logs] names must differ; got \"a\" twice", [] { Logs{{"a", 1}, {"a", 2}}; });
  const History history{{0, 1}, {{"loss", {0.5, 0.25}}}};
  std::ostringstream out;
  out << history;
  BOOST_TEST(out.str() == "epoch=[0, 1] loss=[0.5, 0.25]");
  BOOST_TEST(history["loss"][1] == 0.25);
  BOOST_TEST((history == History{{0, 1}, {{"loss", {0.5, 0.25}}}}));
  check_throws<NameError>("[History] unknown name \"los\"; valid names: loss", [&] { history["los"]; });
  History changed = history;  // the map doesn't add a name either
  check_throws<NameError>("[History] unknown name \"val_loss\"; valid names: loss",
                          [&] { changed.history.at("val_loss"); });
  check_throws<NameError>("[History] unknown name \"val_loss\"; valid names: loss",
                          [&] { changed.history["val_loss"]; });
  BOOST_TEST((changed == history));
}

BOOST_AUTO_TEST_SUITE_END()
