#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo {

/// 1 for each prediction whose class, the argmax over the last axis, equals that of y_true, else 0: two values of the
/// same shape (batch, ..., classes) to (batch, ...), float32.
MEZZO_API Value categorical_accuracy(const Value& y_true, const Value& y_pred);

namespace metrics {

struct CategoricalAccuracyOptions {
  std::string name = "categorical_accuracy";  ///< name in logs and histories
};

/// categorical_accuracy as a metric.
class MEZZO_API CategoricalAccuracy : public Metric {
 public:
  explicit CategoricalAccuracy(const CategoricalAccuracyOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return categorical_accuracy(y_true, y_pred); }
};

}  // namespace metrics

using metrics::CategoricalAccuracy;

}  // namespace mezzo
