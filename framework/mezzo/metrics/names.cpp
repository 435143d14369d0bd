#include <mezzo/metrics/names.hpp>

#include <algorithm>

#include <mezzo/metrics/binary_accuracy.hpp>
#include <mezzo/metrics/categorical_accuracy.hpp>
#include <mezzo/metrics/confusion.hpp>
#include <mezzo/metrics/f_score.hpp>
#include <mezzo/metrics/fitting.hpp>
#include <mezzo/metrics/iou.hpp>
#include <mezzo/metrics/reduction.hpp>
#include <mezzo/metrics/regression.hpp>
#include <mezzo/metrics/sparse_categorical_accuracy.hpp>
#include <mezzo/metrics/top_k.hpp>

namespace mezzo {
namespace {

Any<Metric> create_fitting(const std::string& name) { return detail::FittingAccuracy({.name = name}); }

template <class M>
Any<Metric> create(const std::string& name) {
  return M({.name = name});
}

using Rows = std::vector<NameTable<Metric>::Row>;

template <class M>
void add(Rows& rows, std::initializer_list<const char*> names) {
  for (const char* name : names) rows.push_back({name, create<M>});
}

/// Names of losses stand for their means too, and are not repeated here.
Rows all_rows() {
  Rows rows{{"acc", create_fitting}, {"accuracy", create_fitting}};
  add<metrics::AUC>(rows, {"AUC", "auc"});
  add<metrics::Accuracy>(rows, {"Accuracy"});
  add<metrics::BinaryAccuracy>(rows, {"BinaryAccuracy", "binary_accuracy"});
  add<metrics::BinaryIoU>(rows, {"BinaryIoU", "binary_io_u"});
  add<metrics::CategoricalAccuracy>(rows, {"CategoricalAccuracy", "categorical_accuracy"});
  add<metrics::ConcordanceCorrelation>(rows, {"ConcordanceCorrelation", "concordance_correlation"});
  add<metrics::CosineSimilarity>(rows, {"CosineSimilarity", "cosine_similarity"});
  add<metrics::F1Score>(rows, {"F1Score", "f1_score"});
  add<metrics::FBetaScore>(rows, {"FBetaScore", "f_beta_score", "fbeta_score"});
  add<metrics::FalseNegatives>(rows, {"FalseNegatives", "false_negatives"});
  add<metrics::FalsePositives>(rows, {"FalsePositives", "false_positives"});
  add<metrics::LogCoshError>(rows, {"LogCoshError", "log_cosh_error"});
  add<metrics::PearsonCorrelation>(rows, {"PearsonCorrelation", "pearson_correlation"});
  add<metrics::Precision>(rows, {"Precision", "precision"});
  add<metrics::R2Score>(rows, {"R2Score", "r2_score"});
  add<metrics::Recall>(rows, {"Recall", "recall"});
  add<metrics::RootMeanSquaredError>(rows, {"RootMeanSquaredError", "root_mean_squared_error"});
  add<metrics::SparseCategoricalAccuracy>(rows, {"SparseCategoricalAccuracy", "sparse_categorical_accuracy"});
  add<metrics::SparseTopKCategoricalAccuracy>(rows,
                                              {"SparseTopKCategoricalAccuracy", "sparse_top_k_categorical_accuracy"});
  add<metrics::TopKCategoricalAccuracy>(rows, {"TopKCategoricalAccuracy", "top_k_categorical_accuracy"});
  add<metrics::TrueNegatives>(rows, {"TrueNegatives", "true_negatives"});
  add<metrics::TruePositives>(rows, {"TruePositives", "true_positives"});
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return rows;
}

}  // namespace

const NameTable<Metric>& metric_names() {
  static const NameTable<Metric> table("metric", all_rows());
  return table;
}

}  // namespace mezzo
