#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo {

namespace detail {
/// Numbers that compare y_pred with thresholds: one, `0.5`, several, `{0.3, 0.7}`, or none.
class MEZZO_API Thresholds {
 public:
  Thresholds() = default;
  Thresholds(double one) : values_{one} {}
  Thresholds(std::initializer_list<double> values) : values_(values) {}
  Thresholds(std::vector<double> values) : values_(std::move(values)) {}
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
};
}  // namespace detail

namespace metrics {

/// Base of metrics that compare predictions with thresholds: y_pred in [0, 1] is positive for a threshold if it is
/// larger. y_true and y_pred have the same shape; y_true is positive if it isn't 0. Sample weights are (batch,) or have
/// more of the first axes of y_pred. The state is a histogram of the predictions between the thresholds.
class MEZZO_API ThresholdMetric : public Metric {
 protected:
  /// Settings of derived metrics.
  struct Setup {
    std::vector<double> thresholds{};  ///< counted apart, each in [0, 1]: a prediction above one is positive
    /// True: the thresholds are (i / (n - 1)), apart from a first and last one outside of [0, 1].
    bool evenly = false;
    std::int64_t top_k = 0;                  ///< > 0: only the k largest predictions of the last axis are positive
    std::optional<std::int64_t> class_id{};  ///< index on the last axis that counts; not given: all
    bool from_logits = false;                ///< applies a sigmoid to y_pred
    bool multi_label = false;                ///< counts for each index of the last axis
    std::int64_t num_labels = 0;             ///< size of the last axis under multi_label; 0: that of the first batch
    std::vector<double> label_weights{};     ///< factors of the last axis
  };
  ThresholdMetric(std::string name, Setup setup);  ///< name: key in logs and History
  void update(const Value& y_true, const Value& y_pred, const Value& sample_weight) override;

  /// Counts for each threshold.
  struct Counts {
    /// Per threshold: true positives, false positives, true negatives, false negatives.
    std::vector<double> tp, fp, tn, fn;
  };
  /// Counts of a label; 0 unless multi_label.
  Counts counts(std::int64_t label = 0) const;
  const Setup& setup() const { return setup_; }
  std::int64_t labels() const;

  /// One number, or one for each threshold.
  static Value numbers(const std::vector<double>& values);

 private:
  Value bucket_of(const Value& y_pred) const;

  Setup setup_;
  std::vector<std::size_t> order_;  // of the sorted thresholds
  Variable positives_{"positives"}, negatives_{"negatives"};
};

struct CountOptions {
  detail::Thresholds thresholds{};  ///< not given: 0.5
  std::string name{};               ///< name in logs and histories; "": that of the class
};

/// Sums of the weights of true and false positives and negatives.
class MEZZO_API TruePositives : public ThresholdMetric {
 public:
  explicit TruePositives(const CountOptions& options = {});
  Value result() const override { return numbers(counts().tp); }
};

/// Number of positive predictions with the label 0, for each threshold; weighted by sample_weight.
class MEZZO_API FalsePositives : public ThresholdMetric {
 public:
  explicit FalsePositives(const CountOptions& options = {});
  Value result() const override { return numbers(counts().fp); }
};

/// Number of negative predictions with the label 0, for each threshold; weighted by sample_weight.
class MEZZO_API TrueNegatives : public ThresholdMetric {
 public:
  explicit TrueNegatives(const CountOptions& options = {});
  Value result() const override { return numbers(counts().tn); }
};

/// Number of negative predictions with the label 1, for each threshold; weighted by sample_weight.
class MEZZO_API FalseNegatives : public ThresholdMetric {
 public:
  explicit FalseNegatives(const CountOptions& options = {});
  Value result() const override { return numbers(counts().fn); }
};

struct PrecisionOptions {
  detail::Thresholds thresholds{};         ///< not given: 0.5, or none with top_k
  std::int64_t top_k = 0;                  ///< > 0: only the k largest predictions of the last axis are positive
  std::optional<std::int64_t> class_id{};  ///< index on the last axis that counts; not given: all
  std::string name{};                      ///< name in logs and histories; "": that of the class
};
using RecallOptions = PrecisionOptions;

/// True positives divided by all predicted positives; 0 without these.
class MEZZO_API Precision : public ThresholdMetric {
 public:
  explicit Precision(const PrecisionOptions& options = {});
  Value result() const override;
};

/// True positives divided by all actual positives; 0 without these.
class MEZZO_API Recall : public ThresholdMetric {
 public:
  explicit Recall(const RecallOptions& options = {});
  Value result() const override;
};

struct AtOptions {
  std::int64_t num_thresholds = 200;       ///< thresholds from 0 to 1, 1 or more
  std::optional<std::int64_t> class_id{};  ///< index on the last axis that counts; not given: all
  std::string name{};                      ///< name in logs and histories; "": that of the class
};

/// Largest sensitivity (recall) at thresholds with at least this specificity, in [0, 1].
class MEZZO_API SensitivityAtSpecificity : public ThresholdMetric {
 public:
  /// A ValueError for a specificity outside of [0, 1].
  explicit SensitivityAtSpecificity(double specificity, const AtOptions& options = {});
  Value result() const override;

 private:
  double least_;
};

/// Largest specificity at thresholds with at least this sensitivity (recall), in [0, 1].
class MEZZO_API SpecificityAtSensitivity : public ThresholdMetric {
 public:
  /// A ValueError for a sensitivity outside of [0, 1].
  explicit SpecificityAtSensitivity(double sensitivity, const AtOptions& options = {});
  Value result() const override;

 private:
  double least_;
};

/// Largest precision at thresholds with at least this recall, in [0, 1].
class MEZZO_API PrecisionAtRecall : public ThresholdMetric {
 public:
  /// A ValueError for a recall outside of [0, 1].
  explicit PrecisionAtRecall(double recall, const AtOptions& options = {});
  Value result() const override;

 private:
  double least_;
};

/// Largest recall at thresholds with at least this precision, in [0, 1].
class MEZZO_API RecallAtPrecision : public ThresholdMetric {
 public:
  /// A ValueError for a precision outside of [0, 1].
  explicit RecallAtPrecision(double precision, const AtOptions& options = {});
  Value result() const override;

 private:
  double least_;
};

struct AUCOptions {
  std::int64_t num_thresholds = 200;               ///< points of the curve, 2 or more
  std::string curve = "ROC";                       ///< "ROC", "PR" (precision over recall) or "PRGAIN"
  std::string summation_method = "interpolation";  ///< "interpolation", "minoring" or "majoring"
  std::string name = "auc";                        ///< name in logs and histories
  std::vector<double> thresholds{};                ///< points within [0, 1]; not given: evenly spaced
  bool multi_label = false;                        ///< true: mean of the areas of the indices of the last axis
  std::int64_t num_labels = 0;                     ///< their number, only with multi_label; 0: that of the first batch
  std::vector<double> label_weights{};             ///< weights of these indices
  bool from_logits = false;                        ///< true: y_pred holds logits; false: probabilities
};

/// Area under the receiver operating characteristic or the precision-recall curve, from counts at thresholds. A
/// ValueError for options out of range.
class MEZZO_API AUC : public ThresholdMetric {
 public:
  explicit AUC(AUCOptions options = {});
  Value result() const override;

 private:
  double area(const Counts& counts) const;
  AUCOptions options_;
};

}  // namespace metrics

// metrics::Precision keeps its namespace: mezzo::Precision is an option of the Trainer.
using metrics::AUC;
using metrics::FalseNegatives;
using metrics::FalsePositives;
using metrics::PrecisionAtRecall;
using metrics::Recall;
using metrics::RecallAtPrecision;
using metrics::SensitivityAtSpecificity;
using metrics::SpecificityAtSensitivity;
using metrics::TrueNegatives;
using metrics::TruePositives;

}  // namespace mezzo
