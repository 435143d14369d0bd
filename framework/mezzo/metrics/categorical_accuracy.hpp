#pragma once
#include <mezzo/nn/metric.hpp>

namespace mezzo {

/// 1 where the largest of y_pred (..., classes) is where the largest of y_true (..., classes) is, else 0;
/// the mean of each sample.
Value categorical_accuracy(const Value& y_true, const Value& y_pred);

namespace metrics {

struct CategoricalAccuracyOptions {
  std::string name = "categorical_accuracy";
};

/// categorical_accuracy as a metric.
class CategoricalAccuracy : public Metric {
 public:
  explicit CategoricalAccuracy(CategoricalAccuracyOptions options = {}) : Metric(std::move(options.name)) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return categorical_accuracy(y_true, y_pred); }
};

}  // namespace metrics

using metrics::CategoricalAccuracy;

}  // namespace mezzo
