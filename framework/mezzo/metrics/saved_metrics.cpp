#include <mezzo/metrics/at.hpp>
#include <mezzo/metrics/binary_accuracy.hpp>
#include <mezzo/metrics/categorical_accuracy.hpp>
#include <mezzo/metrics/classes.hpp>
#include <mezzo/metrics/confusion.hpp>
#include <mezzo/metrics/f_score.hpp>
#include <mezzo/metrics/fitting.hpp>
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
#include <mezzo/nn/loss_metric.hpp>
#include <mezzo/nn/saved_by.hpp>

namespace mezzo {
namespace metrics {

static void describe_thresholds(Fields& fields, detail::Thresholds& thresholds) {
  std::vector<double> values = thresholds.values();
  fields("thresholds", values);
  thresholds = detail::Thresholds(std::move(values));
}

static void describe(Fields& fields, CountOptions& options) {
  describe_thresholds(fields, options.thresholds);
  fields("name", options.name);
}

static void describe(Fields& fields, PrecisionOptions& options) {
  describe_thresholds(fields, options.thresholds);
  fields("top_k", options.top_k);
  fields("class_id", options.class_id);
  fields("name", options.name);
}

static void describe(Fields& fields, AUCOptions& options) {
  fields("num_thresholds", options.num_thresholds);
  fields("curve", options.curve);
  fields("summation_method", options.summation_method);
  fields("name", options.name);
  fields("thresholds", options.thresholds);
  fields("multi_label", options.multi_label);
  fields("num_labels", options.num_labels);
  fields("label_weights", options.label_weights);
  fields("from_logits", options.from_logits);
}

static void describe(Fields& fields, AccuracyOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, BinaryAccuracyOptions& options) {
  fields("name", options.name);
  fields("threshold", options.threshold);
}

static void describe(Fields& fields, BinaryCrossentropyOptions& options) {
  fields("name", options.name);
  fields("from_logits", options.from_logits);
  fields("label_smoothing", options.label_smoothing);
}

static void describe(Fields& fields, BinaryIoUOptions& options) {
  fields("target_class_ids", options.target_class_ids);
  fields("threshold", options.threshold);
  fields("name", options.name);
}

static void describe(Fields& fields, CategoricalAccuracyOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, CategoricalCrossentropyOptions& options) {
  fields("name", options.name);
  fields("from_logits", options.from_logits);
  fields("label_smoothing", options.label_smoothing);
  fields("axis", options.axis);
}

static void describe(Fields& fields, CategoricalHingeOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, ConcordanceCorrelationOptions& options) {
  fields("name", options.name);
  fields("axis", options.axis);
}

static void describe(Fields& fields, CosineSimilarityOptions& options) {
  fields("name", options.name);
  fields("axis", options.axis);
}

static void describe(Fields& fields, F1ScoreOptions& options) {
  fields("average", options.average);
  fields("threshold", options.threshold);
  fields("name", options.name);
}

static void describe(Fields& fields, FBetaScoreOptions& options) {
  fields("average", options.average);
  fields("beta", options.beta);
  fields("threshold", options.threshold);
  fields("name", options.name);
}

static void describe(Fields& fields, HingeOptions& options) { fields("name", options.name); }

/// Options that all intersections over unions of given classes have.
template <class Options>
static void describe_iou(Fields& fields, Options& options) {
  fields("num_classes", options.num_classes);
  fields("name", options.name);
  fields("ignore_class", options.ignore_class);
  fields("sparse_y_pred", options.sparse_y_pred);
  fields("axis", options.axis);
}

static void describe(Fields& fields, IoUOptions& options) {
  describe_iou(fields, options);
  fields("target_class_ids", options.target_class_ids);
  fields("sparse_y_true", options.sparse_y_true);
}

static void describe(Fields& fields, KLDivergenceOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, LogCoshErrorOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, MeanOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, MeanAbsoluteErrorOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, MeanAbsolutePercentageErrorOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, MeanIoUOptions& options) {
  describe_iou(fields, options);
  fields("sparse_y_true", options.sparse_y_true);
}

static void describe(Fields& fields, MeanSquaredErrorOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, MeanSquaredLogarithmicErrorOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, OneHotIoUOptions& options) {
  describe_iou(fields, options);
  fields("target_class_ids", options.target_class_ids);
}

static void describe(Fields& fields, OneHotMeanIoUOptions& options) { describe_iou(fields, options); }

static void describe(Fields& fields, PearsonCorrelationOptions& options) {
  fields("name", options.name);
  fields("axis", options.axis);
}

static void describe(Fields& fields, PoissonOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, R2ScoreOptions& options) {
  fields("class_aggregation", options.class_aggregation);
  fields("num_regressors", options.num_regressors);
  fields("name", options.name);
}

static void describe(Fields& fields, RootMeanSquaredErrorOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, SparseCategoricalAccuracyOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, SparseCategoricalCrossentropyOptions& options) {
  fields("name", options.name);
  fields("from_logits", options.from_logits);
  fields("ignore_class", options.ignore_class);
  fields("axis", options.axis);
}

static void describe(Fields& fields, SparseTopKCategoricalAccuracyOptions& options) {
  fields("k", options.k);
  fields("name", options.name);
  fields("from_sorted_ids", options.from_sorted_ids);
}

static void describe(Fields& fields, SquaredHingeOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, SumOptions& options) { fields("name", options.name); }

static void describe(Fields& fields, TopKCategoricalAccuracyOptions& options) {
  fields("k", options.k);
  fields("name", options.name);
}

static void describe(Fields& fields, AtArguments& at) {
  fields("least", at.least);
  fields("num_thresholds", at.options.num_thresholds);
  fields("class_id", at.options.class_id);
  fields("name", at.options.name);
}

}  // namespace metrics

namespace detail {

static void describe(Fields& fields, FittingAccuracyOptions& options) { fields("name", options.name); }
static void describe(Fields& fields, LossMetricOptions& options) { fields("loss", options.loss); }

}  // namespace detail

namespace {

/// A metric that options take as an object, or by the name of a loss: those stand for their means.
template <class M, class Options>
detail::NamedClass<Metric> saved(const std::string& name) {
  return {.saved = detail::saved_class<M, Options, Metric>(name)};
}

/// `more`: further names beside those of Keras.
template <class M, class Options>
detail::NamedClass<Metric> named(const std::string& name, std::vector<std::string> more = {}) {
  return detail::with_names<M>(detail::saved_class<M, Options, Metric>(name),
                               detail::keras_names(name, std::move(more)));
}

/// A metric of one rate at a given value of another.
template <class M>
detail::NamedClass<Metric> saved_at(const char* name) {
  using At = metrics::AtArguments;
  return {.saved = detail::saved_by<Metric, M, At>(
              name, [](const M& object) { return std::any_cast<At>(object.made_of()); },
              [](const At& at) { return M(at.least, at.options); })};
}

}  // namespace

std::vector<detail::NamedClass<Metric>> metric_classes() {
  return {
      detail::with_names<detail::FittingAccuracy>(
          detail::saved_class<detail::FittingAccuracy, detail::FittingAccuracyOptions, Metric>("FittingAccuracy"),
          {"acc", "accuracy"}),
      saved<detail::LossMetric, detail::LossMetricOptions>("LossMetric"),
      named<metrics::FalseNegatives, metrics::CountOptions>("FalseNegatives"),
      named<metrics::FalsePositives, metrics::CountOptions>("FalsePositives"),
      named<metrics::TrueNegatives, metrics::CountOptions>("TrueNegatives"),
      named<metrics::TruePositives, metrics::CountOptions>("TruePositives"),
      named<metrics::Precision, metrics::PrecisionOptions>("Precision"),
      named<metrics::Recall, metrics::RecallOptions>("Recall"),
      saved_at<metrics::PrecisionAtRecall>("PrecisionAtRecall"),
      saved_at<metrics::RecallAtPrecision>("RecallAtPrecision"),
      saved_at<metrics::SensitivityAtSpecificity>("SensitivityAtSpecificity"),
      saved_at<metrics::SpecificityAtSensitivity>("SpecificityAtSensitivity"),
      named<metrics::AUC, metrics::AUCOptions>("AUC"),
      detail::with_names<metrics::Accuracy>(
          detail::saved_class<metrics::Accuracy, metrics::AccuracyOptions, Metric>("Accuracy"), {"Accuracy"}),
      named<metrics::BinaryAccuracy, metrics::BinaryAccuracyOptions>("BinaryAccuracy"),
      saved<metrics::BinaryCrossentropy, metrics::BinaryCrossentropyOptions>("BinaryCrossentropy"),
      named<metrics::BinaryIoU, metrics::BinaryIoUOptions>("BinaryIoU"),
      named<metrics::CategoricalAccuracy, metrics::CategoricalAccuracyOptions>("CategoricalAccuracy"),
      saved<metrics::CategoricalCrossentropy, metrics::CategoricalCrossentropyOptions>("CategoricalCrossentropy"),
      saved<metrics::CategoricalHinge, metrics::CategoricalHingeOptions>("CategoricalHinge"),
      named<metrics::ConcordanceCorrelation, metrics::ConcordanceCorrelationOptions>("ConcordanceCorrelation"),
      named<metrics::CosineSimilarity, metrics::CosineSimilarityOptions>("CosineSimilarity"),
      named<metrics::F1Score, metrics::F1ScoreOptions>("F1Score"),
      named<metrics::FBetaScore, metrics::FBetaScoreOptions>("FBetaScore", {"fbeta_score"}),
      saved<metrics::Hinge, metrics::HingeOptions>("Hinge"),
      saved<metrics::IoU, metrics::IoUOptions>("IoU"),
      saved<metrics::KLDivergence, metrics::KLDivergenceOptions>("KLDivergence"),
      named<metrics::LogCoshError, metrics::LogCoshErrorOptions>("LogCoshError"),
      saved<metrics::Mean, metrics::MeanOptions>("Mean"),
      saved<metrics::MeanAbsoluteError, metrics::MeanAbsoluteErrorOptions>("MeanAbsoluteError"),
      saved<metrics::MeanAbsolutePercentageError, metrics::MeanAbsolutePercentageErrorOptions>(
          "MeanAbsolutePercentageError"),
      saved<metrics::MeanIoU, metrics::MeanIoUOptions>("MeanIoU"),
      saved<metrics::MeanSquaredError, metrics::MeanSquaredErrorOptions>("MeanSquaredError"),
      saved<metrics::MeanSquaredLogarithmicError, metrics::MeanSquaredLogarithmicErrorOptions>(
          "MeanSquaredLogarithmicError"),
      saved<metrics::OneHotIoU, metrics::OneHotIoUOptions>("OneHotIoU"),
      saved<metrics::OneHotMeanIoU, metrics::OneHotMeanIoUOptions>("OneHotMeanIoU"),
      named<metrics::PearsonCorrelation, metrics::PearsonCorrelationOptions>("PearsonCorrelation"),
      saved<metrics::Poisson, metrics::PoissonOptions>("Poisson"),
      named<metrics::R2Score, metrics::R2ScoreOptions>("R2Score"),
      named<metrics::RootMeanSquaredError, metrics::RootMeanSquaredErrorOptions>("RootMeanSquaredError"),
      named<metrics::SparseCategoricalAccuracy, metrics::SparseCategoricalAccuracyOptions>("SparseCategoricalAccuracy"),
      saved<metrics::SparseCategoricalCrossentropy, metrics::SparseCategoricalCrossentropyOptions>(
          "SparseCategoricalCrossentropy"),
      named<metrics::SparseTopKCategoricalAccuracy, metrics::SparseTopKCategoricalAccuracyOptions>(
          "SparseTopKCategoricalAccuracy"),
      saved<metrics::SquaredHinge, metrics::SquaredHingeOptions>("SquaredHinge"),
      saved<metrics::Sum, metrics::SumOptions>("Sum"),
      named<metrics::TopKCategoricalAccuracy, metrics::TopKCategoricalAccuracyOptions>("TopKCategoricalAccuracy")};
}

}  // namespace mezzo
