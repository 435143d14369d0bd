#pragma once
#include <string>

#include <mezzo/metrics/accuracy.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::detail {

struct FittingAccuracyOptions {
  std::string name = "accuracy";  ///< name in logs and histories
};

/// The metric of the name "accuracy": picks its kind when shapes are known.
class FittingAccuracy : public Metric {
 public:
  explicit FittingAccuracy(const FittingAccuracyOptions& options) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return accuracy(y_true, y_pred); }
};

}  // namespace mezzo::detail
