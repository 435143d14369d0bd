#include <boost/test/unit_test.hpp>

#include <cmath>

#include "support/refused.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using boost::test_tools::tolerance;

Value signed_error(const Value& y_true, const Value& y_pred) { return mean(2 * y_true - 1 - y_pred, {{-1}}); }

/// A loss as a user writes it.
class Signed : public Loss {
 public:
  Signed() : Loss("signed") {}
  Value call(const Value& y_true, const Value& y_pred) const override { return signed_error(y_true, y_pred); }
};

/// A metric as a user writes it: sum of 2 t - 1.
class Signs : public Metric {
 public:
  Signs() : Metric("signs") { add_state(sum_, {}); }
  Value result() const override { return sum_; }

 protected:
  void update(const Value& y_true, const Value&, const Value&) override {
    assign(sum_, sum_ + sum(cast(2 * y_true - 1, DType::float64)));
  }

 private:
  Variable sum_{"sum"};
};

Tensor labels(DType dtype) { return Tensor({4, 1}, std::vector<double>{0, 1, 0, 0}).cast(dtype); }

}  // namespace

BOOST_AUTO_TEST_SUITE(target_dtypes)

BOOST_AUTO_TEST_CASE(losses_and_metrics_of_users_get_numbers) {
  for (const DType dtype : {DType::uint8, DType::int8, DType::int32, DType::int64, DType::boolean, DType::float32}) {
    for (const Any<Loss>& loss : {Any<Loss>(Signed()), Any<Loss>(signed_error)}) {
      for (const bool eager : {false, true}) {
        BOOST_TEST_CONTEXT(dtype_name(dtype) << (eager ? " eager" : "")) {
          Sequential model = line(0);
          model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = loss, .metrics = {Signs(), signed_error}});
          const DataLoader data(
              Dataset::from_tensors({{"x", column({1, 1, 1, 1})}, {"y", labels(dtype), Role::target}}),
              {.batch_size = 4});
          auto history =
              Trainer({.max_epochs = 1, .enable_progress_bar = false, .eager = eager}).fit(model, data).history;
          BOOST_TEST(history["loss"].at(0) == -0.5);
          BOOST_TEST(history["signs"].at(0) == -2);
          BOOST_TEST(history["metric"].at(0) == -0.5);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(direct_calls_get_numbers_too) {
  const Value loss = Signed()(labels(DType::uint8), column({0, 0, 0, 0}));
  BOOST_TEST(loss.tensor().item() == -0.5);
}

BOOST_AUTO_TEST_CASE(functions_may_take_the_targets_for_labels) {
  Sequential model({Dense({.units = 2, .kernel_initializer = "zeros"})});
  const auto hot = [](const Value& t, const Value& p) {
    return mean(square(one_hot(reshape(t, {-1}), 2) - p), {{-1}}) + sparse_categorical_crossentropy(t, softmax(p));
  };
  for (const DType dtype : {DType::uint8, DType::int64}) {
    model.compile(
        {.optimizer = SGD({.learning_rate = 0}), .loss = hot, .metrics = {sparse_categorical_accuracy, "accuracy"}});
    const auto logs = model.test_on_batch(column({1, 1, 1, 1}), labels(dtype));
    BOOST_TEST(logs.at("loss") == 0.5 + std::log(2.0), boost::test_tools::tolerance(1e-6));
    BOOST_TEST(logs.at("metric") == 0.75);
    BOOST_TEST(logs.at("accuracy") == 0.75);
  }
}

BOOST_AUTO_TEST_CASE(class_weights_of_labels_of_steps_are_one_for_each) {
  const Tensor x({2, 3, 1}), y = Tensor({2, 3}, std::vector<double>{0, 1, 1, 0, 0, 1}).cast(DType::int64);
  const auto of_a_user = [](const Value& t, const Value& p) { return sparse_categorical_crossentropy(t, softmax(p)); };
  for (const Any<Loss>& loss : {Any<Loss>(SparseCategoricalCrossentropy({.from_logits = true})), Any<Loss>(of_a_user),
                                Any<Loss>("sparse_categorical_crossentropy"), Any<Loss>("crossentropy"),
                                Any<Loss>(sparse_categorical_crossentropy)}) {
    Sequential model({Input({3, 1}), Dense({.units = 2, .activation = "softmax", .kernel_initializer = "zeros"})});
    model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = loss, .weighted_metrics = {"accuracy"}});
    const std::map<std::int64_t, double> weights{{1, 3.0}};
    const double expected = (1 + 3 + 3 + 1 + 1 + 3) * std::log(2.0) / 6;
    BOOST_TEST(model.fit(x, y, {.verbose = false, .class_weight = weights})["loss"][0] == expected, tolerance(1e-6));
    auto logs = model.train_on_batch(x, y, {.class_weight = weights});
    BOOST_TEST(logs["loss"] == expected, tolerance(1e-6));
    BOOST_TEST(logs["accuracy"] == 3 / 12.0, tolerance(1e-6));
    BOOST_TEST(model.test_on_batch(x, y)["loss"] == std::log(2.0), tolerance(1e-6));
    logs = model.train_on_batch(x, y.reshape({2, 3, 1}), {.class_weight = weights});
    BOOST_TEST(logs["loss"] == expected, tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(class_weights_of_integer_scores_are_one_for_each_sample) {
  Sequential model({Input({1}), Dense({.units = 3, .kernel_initializer = "zeros"}), Softmax()});
  const Tensor x({2, 1}), y = Tensor({2, 3}, std::vector<double>{0, 1, 0, 1, 0, 0}).cast(DType::int64);
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "categorical_crossentropy"});
  BOOST_TEST(model.train_on_batch(x, y, {.class_weight = {{1, 3.0}}})["loss"] == 2 * std::log(3.0), tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(targets_are_indices_in_losses_of_users) {
  using Function = Value (*)(const Value&, const Value&);
  const std::pair<const char*, Function> all[] = {
      {"take_along_axis", [](const Value& t, const Value& p) { return take_along_axis(p, expand_dims(t, -1), -1); }},
      {"part",
       [](const Value& t, const Value& p) {
         return take(p, slice(t, {{1}, {2}}), 0);
       }},
      {"stretched",
       [](const Value& t, const Value& p) {
         return take_along_axis(p, transpose(broadcast_to(expand_dims(flip(t, 0), 0), {3, 3})), 1);
       }},
      {"scatter",
       [](const Value& t, const Value& p) {
         return scatter(expand_dims(t, -1), p, {3, 3}) * p;
       }},
      {"scatter_update", [](const Value& t, const Value& p) { return scatter_update(p, expand_dims(t, -1), p) * p; }},
      {"segment_sum", [](const Value& t, const Value& p) { return segment_sum(p, t, 3) * p; }},
      {"segment_max", [](const Value& t, const Value& p) { return segment_max(p, t, 3) * p; }},
      {"segment_prod", [](const Value& t, const Value& p) { return segment_prod(p, t, 3) * p; }},
      {"in_top_k", [](const Value& t, const Value& p) { return cast(in_top_k(t, p, 1), DType::float32); }},
      {"dynamic_slice",
       [](const Value& t, const Value& p) {
         return dynamic_slice(reshape(p, {-1}), slice(t, {{0}, {1}}), {2});
       }},
      {"index", [](const Value& t, const Value& p) { return p(t); }},
      {"bincount",
       [](const Value& t, const Value& p) { return cast(bincount(t, {.minlength = 3}), DType::float32) * p; }},
      {"unravel_index",
       [](const Value& t, const Value& p) { return cast(unravel_index(t, {3, 1})[0], DType::float32) * p; }},
      {"one_hot", [](const Value& t, const Value& p) { return one_hot(t, 3) * p; }}};
  const Tensor y = Tensor({3}, std::vector<double>{2, 0, 2}).cast(DType::int64);
  const Tensor p({3, 3}, std::vector<float>{1, 2, 3, 10, 20, 30, 100, 200, 300});
  for (const auto& [name, function] : all) {
    Sequential model({Input({3}), Rescaling(1.0)});
    model.compile({.loss = [f = function](const Value& t, const Value& q) { return reshape(sum(f(t, q)), {1}); }});
    const double expected = sum(function(y, p)).tensor().item();
    for (const DType dtype : {DType::int64, DType::uint8}) {
      BOOST_TEST(model.test_on_batch(p, y.cast(dtype))["loss"] == expected, name);
    }
  }
}

BOOST_AUTO_TEST_CASE(large_targets_are_the_integers_that_they_were) {
  Sequential model({Input({1}), Rescaling(1.0)});
  model.compile({.loss = [](const Value& t, const Value&) {
    return cast(cast(t, DType::int64) - std::int64_t{16777216}, DType::float32);
  }});
  const Tensor y({2}, std::vector<std::int64_t>{16777217, 16777219});
  BOOST_TEST(model.test_on_batch(column({1, 1}), y)["loss"] == 2);
}

BOOST_AUTO_TEST_SUITE_END()
