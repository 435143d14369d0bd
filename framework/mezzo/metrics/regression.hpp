#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/losses/regression.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo {

/// Pearson's correlation of y_true and y_pred along an axis: (..., n) to (...). NaN for constant numbers. In at least
/// float32.
MEZZO_API Value pearson_correlation(const Value& y_true, const Value& y_pred, std::int64_t axis = -1);

/// Concordance correlation of y_true and y_pred along an axis (Lin, 1989): (..., n) to (...), with Keras' formula,
/// whose covariance is mean((y_true - mean(y_pred)) (y_pred - mean(y_pred))). In at least float32.
MEZZO_API Value concordance_correlation(const Value& y_true, const Value& y_pred, std::int64_t axis = -1);

}  // namespace mezzo

namespace mezzo::metrics {

struct MeanAbsolutePercentageErrorOptions {
  std::string name = "mean_absolute_percentage_error";  ///< name in logs and histories
};

/// Mean of mean_absolute_percentage_error as a metric.
class MEZZO_API MeanAbsolutePercentageError : public Metric {
 public:
  explicit MeanAbsolutePercentageError(const MeanAbsolutePercentageErrorOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return mean_absolute_percentage_error(y_true, y_pred);
  }
};

struct MeanSquaredLogarithmicErrorOptions {
  std::string name = "mean_squared_logarithmic_error";  ///< name in logs and histories
};

/// Mean of mean_squared_logarithmic_error as a metric.
class MEZZO_API MeanSquaredLogarithmicError : public Metric {
 public:
  explicit MeanSquaredLogarithmicError(const MeanSquaredLogarithmicErrorOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return mean_squared_logarithmic_error(y_true, y_pred);
  }
};

struct LogCoshErrorOptions {
  std::string name = "logcosh";  ///< name in logs and histories
};

/// Mean of log_cosh as a metric.
class MEZZO_API LogCoshError : public Metric {
 public:
  explicit LogCoshError(const LogCoshErrorOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return log_cosh(y_true, y_pred); }
};

struct CosineSimilarityOptions {
  std::string name = "cosine_similarity";  ///< name in logs and histories
  std::int64_t axis = -1;                  ///< axis of the vectors
};

/// Mean of cosine_similarity times -1 as a metric: equal directions result in 1.
class MEZZO_API CosineSimilarity : public Metric {
 public:
  explicit CosineSimilarity(const CosineSimilarityOptions& options = {}) : Metric(options), axis_(options.axis) {}
  Value call(const Value& y_true, const Value& y_pred) const override;

 private:
  std::int64_t axis_;
};

struct PearsonCorrelationOptions {
  std::string name = "pearson_correlation";  ///< name in logs and histories
  std::int64_t axis = -1;                    ///< axis of the numbers that are correlated
};

/// Mean of pearson_correlation as a metric.
class MEZZO_API PearsonCorrelation : public Metric {
 public:
  explicit PearsonCorrelation(const PearsonCorrelationOptions& options = {}) : Metric(options), axis_(options.axis) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return pearson_correlation(y_true, y_pred, axis_);
  }

 private:
  std::int64_t axis_;
};

struct ConcordanceCorrelationOptions {
  std::string name = "concordance_correlation";  ///< name in logs and histories
  std::int64_t axis = -1;                        ///< axis of the numbers that are correlated
};

/// Mean of concordance_correlation as a metric.
class MEZZO_API ConcordanceCorrelation : public Metric {
 public:
  explicit ConcordanceCorrelation(const ConcordanceCorrelationOptions& options = {})
      : Metric(options), axis_(options.axis) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return concordance_correlation(y_true, y_pred, axis_);
  }

 private:
  std::int64_t axis_;
};

struct RootMeanSquaredErrorOptions {
  std::string name = "root_mean_squared_error";  ///< name in logs and histories
};

/// Root of the mean of (y_pred - y_true)^2.
class MEZZO_API RootMeanSquaredError : public Metric {
 public:
  explicit RootMeanSquaredError(const RootMeanSquaredErrorOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override;
  Value result() const override;
};

struct R2ScoreOptions {
  /// "uniform_average": mean over the outputs; "variance_weighted_average": weighted by their variance; "none": one
  /// number for each, which can't be logged.
  std::string class_aggregation = "uniform_average";
  std::int64_t num_regressors = 0;  ///< > 0: adjusted score for that number of independent variables
  std::string name = "r2_score";    ///< name in logs and histories
};

/// Coefficient of determination of y_pred (batch, outputs). A ValueError for options out of range; a ShapeError unless
/// y_true and y_pred are (batch, outputs).
class MEZZO_API R2Score : public Metric {
 public:
  explicit R2Score(R2ScoreOptions options = {});
  Value result() const override;

 protected:
  void update(const Value& y_true, const Value& y_pred, const Value& sample_weight) override;

 private:
  R2ScoreOptions options_;
  Variable sum_{"sum"}, squared_sum_{"squared_sum"}, residual_{"residual"}, count_{"count"}, samples_{"num_samples"};
};

}  // namespace mezzo::metrics

namespace mezzo {

using metrics::ConcordanceCorrelation;
using metrics::LogCoshError;
using metrics::PearsonCorrelation;
using metrics::R2Score;
using metrics::RootMeanSquaredError;

}  // namespace mezzo
