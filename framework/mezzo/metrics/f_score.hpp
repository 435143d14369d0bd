#pragma once
#include <optional>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct FBetaScoreOptions {
  /// "none": a number for each class, which can't be logged; "micro": of all counts together; "macro": mean over the
  /// classes; "weighted": weighted by the number of samples of each class.
  std::string average = "none";
  double beta = 1;                    ///< weight of recall against precision, more than 0
  std::optional<double> threshold{};  ///< predictions above it are positive; not given: the largest of each sample
  std::string name = "fbeta_score";   ///< name in logs and histories
};

/// (1 + beta^2) precision recall / (beta^2 precision + recall) of y_true and y_pred (batch, classes). y_true holds 0
/// and 1. Sample weights are (batch,). A ValueError for options out of range, a ShapeError for other shapes.
class MEZZO_API FBetaScore : public Metric {
 public:
  explicit FBetaScore(FBetaScoreOptions options = {});
  Value result() const override;

 protected:
  void update(const Value& y_true, const Value& y_pred, const Value& sample_weight) override;

 private:
  FBetaScoreOptions options_;
  Variable tp_{"true_positives"}, fp_{"false_positives"}, fn_{"false_negatives"}, weights_{"intermediate_weights"};
};

struct F1ScoreOptions {
  std::string average = "none";       ///< as in FBetaScore
  std::optional<double> threshold{};  ///< as in FBetaScore
  std::string name = "f1_score";      ///< name in logs and histories
};

/// FBetaScore with beta 1.
class MEZZO_API F1Score : public FBetaScore {
 public:
  explicit F1Score(const F1ScoreOptions& options = {})
      : FBetaScore({options.average, 1, options.threshold, options.name}) {
    keep_options(options);
  }
};

}  // namespace mezzo::metrics

namespace mezzo {

using metrics::F1Score;
using metrics::FBetaScore;

}  // namespace mezzo
