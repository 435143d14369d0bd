#pragma once
#include <mezzo/nn/metric.hpp>

namespace mezzo {

/// Predictions above `threshold` count as 1, others as 0.
struct ThresholdOptions {
  double threshold = 0.5;
};

/// 1 where y_true is what y_pred counts as, else 0; the mean of each sample.
Value binary_accuracy(const Value& y_true, const Value& y_pred, const ThresholdOptions& options = {});

namespace metrics {

struct BinaryAccuracyOptions {
  std::string name = "binary_accuracy";
  double threshold = 0.5;
};

/// binary_accuracy as a metric.
class BinaryAccuracy : public Metric {
 public:
  explicit BinaryAccuracy(BinaryAccuracyOptions options = {})
      : Metric(std::move(options.name)), options_{options.threshold} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return binary_accuracy(y_true, y_pred, options_);
  }

 private:
  ThresholdOptions options_;
};

}  // namespace metrics

using metrics::BinaryAccuracy;

}  // namespace mezzo
