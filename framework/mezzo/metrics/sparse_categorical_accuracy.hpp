#pragma once
#include <mezzo/nn/metric.hpp>

namespace mezzo {

/// 1 where the largest of y_pred (..., classes) is at the class y_true (...) or (..., 1), else 0; the mean
/// of each sample.
Value sparse_categorical_accuracy(const Value& y_true, const Value& y_pred);

namespace metrics {

struct SparseCategoricalAccuracyOptions {
  std::string name = "sparse_categorical_accuracy";
};

/// sparse_categorical_accuracy as a metric.
class SparseCategoricalAccuracy : public Metric {
 public:
  explicit SparseCategoricalAccuracy(SparseCategoricalAccuracyOptions options = {}) : Metric(std::move(options.name)) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return sparse_categorical_accuracy(y_true, y_pred);
  }
};

}  // namespace metrics

using metrics::SparseCategoricalAccuracy;

}  // namespace mezzo
