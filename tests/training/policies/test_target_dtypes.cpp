#include <boost/test/unit_test.hpp>

#include <cmath>

#include "support/refused.hpp"
#include "training/small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

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

/// Scores (batch, time, 2) of constant logits.
Sequential scores() { return Sequential({Input({3, 1}), Dense({.units = 2, .kernel_initializer = "zeros"})}); }

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

BOOST_AUTO_TEST_CASE(class_weights_do_not_take_labels_of_steps_for_scores) {
  Sequential model = scores();
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Tensor x({2, 3, 1}), y = Tensor({2, 3}, std::vector<double>{0, 1, 1, 0, 0, 1}).cast(DType::int64);
  const std::string text =
      "class_weight with a loss that takes classes needs targets of shape () or (1,) for a sample; got shape (3,) "
      "(sample_weight may have a weight for each of them)";
  BOOST_TEST(refused<ValueError>([&] {
               model.fit(x, y, {.verbose = false, .class_weight = {{1, 3.0}}});
             }) == "[Sequential] fit: " + text);
  BOOST_TEST(refused<ValueError>([&] {
               model.train_on_batch(x, y, {.class_weight = {{1, 3.0}}});
             }) == "[Sequential] train_on_batch: " + text);
}

BOOST_AUTO_TEST_SUITE_END()
