#include <boost/test/unit_test.hpp>

#include <mezzo/graph/scope.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/metrics/accuracy.hpp>
#include <mezzo/metrics/binary_accuracy.hpp>
#include <mezzo/metrics/categorical_accuracy.hpp>
#include <mezzo/metrics/mean_absolute_error.hpp>
#include <mezzo/metrics/mean_squared_error.hpp>
#include <mezzo/metrics/sparse_categorical_accuracy.hpp>
#include <mezzo/metrics/sparse_categorical_crossentropy.hpp>
#include <mezzo/ops/op_lists.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/precision/policy.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void check_recorded(const std::string& name, const Any<Metric>& metric) {
  const auto& expected = recorded("metrics").at(name);
  BOOST_TEST_CONTEXT(name) {
    const Value values = metric->call(recorded_tensor(expected.at("y_true")), recorded_tensor(expected.at("y_pred")));
    BOOST_TEST(largest_difference(values.tensor(), recorded_tensor(expected.at("values"))) <= 1e-6);
    BOOST_TEST(std::abs(mean(values).item() - expected.at("result").get<double>()) <= 1e-6);
    BOOST_TEST(metric->name() == expected.at("name"));
  }
}

std::vector<double> numbers(const Value& value) { return value.tensor().to_doubles(); }

}  // namespace

static_assert(std::is_same_v<MeanAbsoluteError, mezzo::losses::MeanAbsoluteError>);
static_assert(!std::is_convertible_v<mezzo::metrics::MeanAbsoluteError, Any<Loss>>);
static_assert(std::is_convertible_v<MeanAbsoluteError, Any<Metric>>);

BOOST_AUTO_TEST_SUITE(metrics)

BOOST_AUTO_TEST_CASE(equal_keras) {
  for (const char* suffix : {"", "_column", "_ties", "_rank_3"}) {
    check_recorded("sparse_categorical_accuracy" + std::string(suffix), SparseCategoricalAccuracy());
  }
  check_recorded("categorical_accuracy", CategoricalAccuracy());
  check_recorded("binary_accuracy", BinaryAccuracy());
  check_recorded("binary_accuracy_threshold", BinaryAccuracy({.threshold = 0.3}));
  check_recorded("binary_accuracy_wide", BinaryAccuracy());
  check_recorded("mean_squared_error", mezzo::metrics::MeanSquaredError());
  check_recorded("mean_absolute_error", mezzo::metrics::MeanAbsoluteError());
  check_recorded("sparse_categorical_crossentropy",
                 mezzo::metrics::SparseCategoricalCrossentropy({.from_logits = true}));
}

BOOST_AUTO_TEST_CASE(accuracy_picks_its_kind_as_keras) {
  for (const char* name : {"sparse_categorical_accuracy", "sparse_categorical_accuracy_column",
                           "sparse_categorical_accuracy_rank_3", "categorical_accuracy", "binary_accuracy"}) {
    const auto& expected = recorded("metrics").at(name);
    const Tensor y_true = recorded_tensor(expected.at("y_true")), y_pred = recorded_tensor(expected.at("y_pred"));
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(largest_difference(accuracy(y_true, y_pred).tensor(), recorded_tensor(expected.at("values"))) <= 1e-6);
    }
  }
  const Tensor y_true({3}, std::vector<std::int64_t>{1, 0, 1}), y_pred({3}, std::vector<float>{0.9F, 0.6F, 0.5F});
  BOOST_TEST(numbers(accuracy(y_true, y_pred)) == (std::vector<double>{1, 0, 0}));
}

BOOST_AUTO_TEST_CASE(targets_of_any_dtype_are_binary) {
  const Tensor y_pred({2, 1}, std::vector<float>{0.7F, 0.2F});
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int64, DType::float32, DType::float64}) {
    const Tensor y_true = Tensor({2, 1}, std::vector<float>{1, 1}).cast(dtype);
    BOOST_TEST(numbers(binary_accuracy(y_true, y_pred)) == (std::vector<double>{1, 0}));
  }
}

// Metrics are float32 under any policy, as in Keras. In bfloat16, 0.501 would be 0.5, and 257 / 512 would be 1 / 2.
BOOST_AUTO_TEST_CASE(policies_and_op_lists_do_not_reach_metrics) {
  std::vector<float> scores(512, 0.501F);
  std::fill(scores.begin() + 257, scores.end(), 0.0F);
  const Tensor y_true({1, 512}, std::vector<float>(512, 1)), y_pred({1, 512}, scores);
  const OpLists lists({.lower = std::vector<std::string>{"sub", "sign", "relu", "eq", "argmax", "mean"}});
  for (const Policy& policy : {Policy("bfloat16"), Policy(lists)}) {
    const PolicyScope trainer(policy);
    const Value fraction = binary_accuracy(Value(y_true).across_border(), Value(y_pred).across_border());
    BOOST_TEST(fraction.item() == 257 / 512.0, policy.name());
    BOOST_TEST((fraction.dtype() == DType::float32));
    const Tensor labels({1, 1}, DType::int64);
    BOOST_TEST(
        sparse_categorical_accuracy(labels, Value(Tensor({1, 1, 2}, std::vector<float>{1.001F, 1})).across_border())
                .item() == 1,
        policy.name());
    BOOST_TEST(categorical_accuracy(Tensor({1, 2}, std::vector<float>{0, 1}),
                                    Value(Tensor({1, 2}, std::vector<float>{1, 1.001F})).across_border())
                       .item() == 1,
               policy.name());
  }
}

BOOST_AUTO_TEST_CASE(names_are_keras) {
  const Tensor labels({2}, std::vector<std::int64_t>{1, 0}), scores({2, 2}, std::vector<float>{0, 1, 0, 1});
  for (const char* name : {"accuracy", "acc", "sparse_categorical_accuracy", "SparseCategoricalAccuracy"}) {
    const Any<Metric> metric = name;
    BOOST_TEST(metric->name() == name);
    BOOST_TEST(numbers(metric->call(labels, scores)) == (std::vector<double>{1, 0}));
  }
  for (const char* name : {"categorical_accuracy", "binary_accuracy", "mse", "mean_absolute_error"}) {
    BOOST_TEST(Any<Metric>(name)->name() == name);
  }
  BOOST_TEST(
      refused<NameError>([] { Any<Metric>("acuracy"); }) ==
      "unknown metric \"acuracy\"; valid names: BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy, acc, "
      "accuracy, binary_accuracy, categorical_accuracy, sparse_categorical_accuracy, and the losses MAE, MSE, "
      "MeanAbsoluteError, MeanSquaredError, SparseCategoricalCrossentropy, mae, mean_absolute_error, "
      "mean_squared_error, mse, sparse_categorical_crossentropy");
}

BOOST_AUTO_TEST_CASE(a_loss_is_a_metric) {
  const Any<Loss> handle = "mae";
  const std::vector<Any<Metric>> metrics{MeanAbsoluteError({.name = "distance"}), handle};
  BOOST_TEST(metrics[0]->name() == "distance");
  BOOST_TEST(metrics[1]->name() == "mae");
  BOOST_TEST(metrics[0]->call(Tensor({1}), Tensor({1}, std::vector<float>{-3})).item() == 3);
  BOOST_TEST(refused<ValueError>([] { Any<Metric>(Any<Loss>()); }) ==
             "[Metric] a loss must be given to make a metric of it; got an empty Any<Loss>");
}

BOOST_AUTO_TEST_CASE(wrong_shapes_are_refused) {
  BOOST_TEST(refused<ShapeError>([] {
               accuracy(Tensor({8, 3}, DType::int64), Tensor({8, 4}));
             }) ==
             "[categorical_accuracy] y_true and y_pred must have the same shape; got y_true (8, 3) and y_pred (8, 4) "
             "(the arguments are y_true, y_pred)");
  BOOST_TEST(refused<DTypeError>([] {
               sparse_categorical_accuracy(Tensor({8}), Tensor({8, 4}));
             }) == "[sparse_categorical_accuracy] y_true must be integer labels; got float32");
}

BOOST_AUTO_TEST_SUITE_END()
