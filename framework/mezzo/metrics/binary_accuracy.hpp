#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo {

struct ThresholdOptions {
  double threshold = 0.5;  ///< predictions above it are class 1, others class 0
};

/// 1 for each prediction whose class, 0 or 1, equals y_true, else 0: two values of the same shape to that shape,
/// float32.
MEZZO_API Value binary_accuracy(const Value& y_true, const Value& y_pred, const ThresholdOptions& options = {});

namespace metrics {

struct BinaryAccuracyOptions {
  std::string name = "binary_accuracy";  ///< name in logs and histories
  double threshold = 0.5;                ///< predictions above it are class 1, others class 0
};

/// binary_accuracy as a metric.
class MEZZO_API BinaryAccuracy : public Metric {
 public:
  explicit BinaryAccuracy(const BinaryAccuracyOptions& options = {}) : Metric(options), options_{options.threshold} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return binary_accuracy(y_true, y_pred, options_);
  }

 private:
  ThresholdOptions options_;
};

}  // namespace metrics

using metrics::BinaryAccuracy;

}  // namespace mezzo
