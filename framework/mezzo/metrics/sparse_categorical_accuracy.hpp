#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo {

/// 1 for each prediction whose class, the argmax over the last axis, equals the label, else 0: labels y_true (batch,
/// ...) or (batch, ..., 1) and scores y_pred (batch, ..., classes) to (batch, ...), float32.
MEZZO_API Value sparse_categorical_accuracy(const Value& y_true, const Value& y_pred);

namespace metrics {

struct SparseCategoricalAccuracyOptions {
  std::string name = "sparse_categorical_accuracy";  ///< name in logs and histories
};

/// sparse_categorical_accuracy as a metric.
class MEZZO_API SparseCategoricalAccuracy : public Metric {
 public:
  explicit SparseCategoricalAccuracy(const SparseCategoricalAccuracyOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return sparse_categorical_accuracy(y_true, y_pred);
  }
};

}  // namespace metrics

using metrics::SparseCategoricalAccuracy;

}  // namespace mezzo
