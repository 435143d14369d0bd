#include <boost/test/unit_test.hpp>

#include <numeric>

#include <mezzo/graph/scope.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/losses/targets.hpp>
#include <mezzo/metrics/accuracy.hpp>
#include <mezzo/metrics/binary_accuracy.hpp>
#include <mezzo/metrics/categorical_accuracy.hpp>
#include <mezzo/metrics/confusion.hpp>
#include <mezzo/metrics/f_score.hpp>
#include <mezzo/metrics/hinge.hpp>
#include <mezzo/metrics/iou.hpp>
#include <mezzo/metrics/mean_absolute_error.hpp>
#include <mezzo/metrics/mean_squared_error.hpp>
#include <mezzo/metrics/probabilistic.hpp>
#include <mezzo/metrics/reduction.hpp>
#include <mezzo/metrics/regression.hpp>
#include <mezzo/metrics/sparse_categorical_accuracy.hpp>
#include <mezzo/metrics/sparse_categorical_crossentropy.hpp>
#include <mezzo/metrics/top_k.hpp>
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
    BOOST_TEST(largest_difference(detail::per_sample(values).tensor(), recorded_tensor(expected.at("values"))) <= 1e-6);
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
      BOOST_TEST(largest_difference(detail::per_sample(accuracy(y_true, y_pred)).tensor(),
                                    recorded_tensor(expected.at("values"))) <= 1e-6);
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
    const detail::PolicyScope trainer(policy);
    const Value fraction = binary_accuracy(Value(y_true).across_border(), Value(y_pred).across_border());
    const std::vector<double> right = fraction.tensor().to_doubles();
    BOOST_TEST(std::accumulate(right.begin(), right.end(), 0.0) == 257, policy.name());
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
  const std::string unknown = refused<NameError>([] { Any<Metric>("acuracy"); });
  BOOST_TEST(unknown.rfind("unknown metric \"acuracy\"; valid names: AUC, Accuracy, BinaryAccuracy, ", 0) == 0U);
  BOOST_TEST(unknown.find(", BCE, ") != std::string::npos);
}

// Numbers after two batches of different sizes, without and with sample weights.
BOOST_AUTO_TEST_CASE(states_equal_keras) {
  const std::vector<std::pair<std::string, Any<Metric>>> rows{
      {"true_positives", TruePositives()},
      {"false_positives", FalsePositives({.thresholds = 0.3})},
      {"true_negatives", TrueNegatives({.thresholds = {0.7, 0.2}})},
      {"false_negatives", FalseNegatives()},
      {"precision", mezzo::metrics::Precision()},
      {"precision_thresholds", mezzo::metrics::Precision({.thresholds = {0.3, 0.7}})},
      {"precision_top_k", mezzo::metrics::Precision({.top_k = 2})},
      {"precision_class", mezzo::metrics::Precision({.class_id = 1})},
      {"recall", Recall()},
      {"recall_top_k", Recall({.top_k = 2, .class_id = 2})},
      {"sensitivity_at_specificity", SensitivityAtSpecificity(0.5)},
      {"specificity_at_sensitivity", SpecificityAtSensitivity(0.4, {.num_thresholds = 1})},
      {"precision_at_recall", PrecisionAtRecall(0.6, {.num_thresholds = 20})},
      {"recall_at_precision", RecallAtPrecision(0.6)},
      {"auc", AUC()},
      {"auc_5", AUC({.num_thresholds = 5})},
      {"auc_thresholds", AUC({.thresholds = {0.8, 0.1, 0.35}})},
      {"auc_pr", AUC({.curve = "PR"})},
      {"auc_pr_minoring", AUC({.curve = "PR", .summation_method = "minoring"})},
      {"auc_majoring", AUC({.num_thresholds = 7, .summation_method = "majoring"})},
      {"auc_gain", AUC({.curve = "PRGAIN"})},
      {"auc_labels", AUC({.multi_label = true, .label_weights = {1, 2, 0.5, 1}})},
      {"auc_num_labels", AUC({.curve = "PR", .multi_label = true, .num_labels = 4})},
      {"auc_logits", AUC({.from_logits = true})},
      {"f1_score", F1Score()},
      {"f1_micro", F1Score({.average = "micro"})},
      {"f1_macro", F1Score({.average = "macro", .threshold = 0.6})},
      {"fbeta_weighted", FBetaScore({.average = "weighted", .beta = 2})},
      {"io_u", IoU({.num_classes = 3, .target_class_ids = {0, 2}})},
      {"mean_io_u", MeanIoU({.num_classes = 3, .ignore_class = 1})},
      {"binary_io_u", BinaryIoU({.threshold = 0.4})},
      {"one_hot_io_u", OneHotIoU({.num_classes = 4, .target_class_ids = {1, 2}})},
      {"one_hot_mean_io_u", OneHotMeanIoU({.num_classes = 4})},
      {"r2_score", R2Score()},
      {"r2_variance", R2Score({.class_aggregation = "variance_weighted_average", .num_regressors = 2})},
      {"r2_none", R2Score({.class_aggregation = "none"})},
      {"root_mean_squared_error", RootMeanSquaredError()},
      {"mean_absolute_percentage_error", mezzo::metrics::MeanAbsolutePercentageError()},
      {"mean_squared_logarithmic_error", mezzo::metrics::MeanSquaredLogarithmicError()},
      {"cosine_similarity", mezzo::metrics::CosineSimilarity()},
      {"log_cosh", LogCoshError()},
      {"pearson_correlation", PearsonCorrelation()},
      {"concordance_correlation", ConcordanceCorrelation()},
      {"hinge", mezzo::metrics::Hinge()},
      {"squared_hinge", mezzo::metrics::SquaredHinge()},
      {"categorical_hinge", mezzo::metrics::CategoricalHinge()},
      {"kl_divergence", mezzo::metrics::KLDivergence()},
      {"poisson", mezzo::metrics::Poisson()},
      {"binary_crossentropy", mezzo::metrics::BinaryCrossentropy({.label_smoothing = 0.1})},
      {"categorical_crossentropy", mezzo::metrics::CategoricalCrossentropy({.from_logits = true})},
      {"accuracy", Accuracy()},
      {"binary_accuracy_weighted", BinaryAccuracy()},
      {"sparse_categorical_accuracy_elements", SparseCategoricalAccuracy()},
      {"top_k", TopKCategoricalAccuracy(2, {.name = "top_2"})},
      {"sparse_top_k", SparseTopKCategoricalAccuracy(2)},
      {"sparse_top_k_of_ids", SparseTopKCategoricalAccuracy({.k = 2, .from_sorted_ids = true})},
  };
  for (const auto& [name, metric] : rows) {
    const auto& expected = recorded("metric_states").at(name);
    const Tensor y_true = recorded_tensor(expected.at("y_true")), y_pred = recorded_tensor(expected.at("y_pred"));
    for (const char* kind : {"plain", "weighted"}) {
      if (!expected.contains(kind)) continue;
      BOOST_TEST_CONTEXT(name << " " << kind) {
        metric->reset_state();
        const std::int64_t size = y_pred.shape()[0], first = size * 2 / 3;
        for (const auto& [begin, end] : {std::pair(std::int64_t{0}, first), std::pair(first, size)}) {
          Value weight;
          if (std::string(kind) == "weighted") {
            weight = recorded_tensor(expected.at("weights")).slice(begin, end);
          }
          metric->update_state(y_true.slice(begin, end), y_pred.slice(begin, end), weight);
        }
        const Tensor right = recorded_tensor(expected.at(kind));
        double most = 1;
        for (const double number : right.to_doubles()) most = std::max(most, std::abs(number));
        BOOST_TEST(largest_difference(metric->result().tensor().reshape(right.shape()), right) <= 1e-6 * most);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(means_and_sums_take_values) {
  mezzo::metrics::Mean mean;
  mezzo::metrics::Sum sum;
  BOOST_TEST(mean.result().item() == 0);
  const Tensor values({2}, std::vector<float>{1, 3}), more({1}, std::vector<float>{5});
  mean.update_state(values, Tensor({2}, std::vector<float>{1, 3}));
  mean.update_state(more);
  BOOST_TEST(mean.result().item() == (1 + 9 + 5) / 5.0);
  sum.update_state(values, Tensor({2}, std::vector<float>{1, 3}));
  sum.update_state(more);
  BOOST_TEST(sum.result().item() == 15);
  const mezzo::metrics::Sum same = sum;  // shares the state
  same.reset_state();
  BOOST_TEST(sum.result().item() == 0);
  BOOST_TEST(same.variables().size() == 1U);
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
  BOOST_TEST(refused<ValueError>([] { AUC({.num_labels = 2}); }) ==
             "[AUC] num_labels needs multi_label; got 2 without it");
  BOOST_TEST(refused<ValueError>([] { AUC({.multi_label = true, .num_labels = 2, .label_weights = {1}}); }) ==
             "[AUC] label_weights must be 2 (num_labels); got 1");
  AUC labels({.multi_label = true, .num_labels = 2});
  BOOST_TEST(labels.result().item() == 0);
  BOOST_TEST(refused<ShapeError>([&] {
               labels.update_state(Tensor({1, 3}), Tensor({1, 3}));
             }) == "[auc] y_pred must have 2 labels (num_labels); got (1, 3)");
  BOOST_TEST(refused<ShapeError>([] {
               sparse_top_k_categorical_accuracy(Tensor({2}, DType::int32), Tensor({3, 4}, DType::int32), 2, true);
             }) ==
             "[sparse_top_k_categorical_accuracy] y_true must have the shape of y_pred without its last axis, the "
             "sorted classes; got y_true (2,) and y_pred (3, 4) (the arguments are y_true, y_pred)");
  BOOST_TEST(refused<ValueError>([] { AUC({.num_thresholds = 1}); }) ==
             "[AUC] num_thresholds must be 2 or more; got 1");
  BOOST_TEST(refused<ValueError>([] { AUC({.curve = "RO"}); }) ==
             "[AUC] curve must be one of ROC, roc, PR, pr, PRGAIN, prgain; got \"RO\"");
  BOOST_TEST(refused<ValueError>([] { mezzo::metrics::Precision({.thresholds = 1.5}); }) ==
             "[precision] thresholds must be in [0, 1]; got 1.5");
  BOOST_TEST(refused<ValueError>([] { MeanIoU({}); }) == "[mean_io_u] num_classes must be 1 or more; got 0");
  BOOST_TEST(refused<ValueError>([] { F1Score({.average = "mean"}); }) ==
             "[f1_score] average must be one of none, micro, macro, weighted; got \"mean\"");
  BOOST_TEST(refused<ValueError>([] { R2Score({.num_regressors = -1}); }) ==
             "[r2_score] num_regressors must be 0 or more; got -1");
  BOOST_TEST(refused<ValueError>([] { SensitivityAtSpecificity(2); }) ==
             "[sensitivity_at_specificity] the bound must be in [0, 1]; got 2");
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
