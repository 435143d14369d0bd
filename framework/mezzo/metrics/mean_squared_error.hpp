#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/losses/mean_squared_error.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct MeanSquaredErrorOptions {
  std::string name = "mean_squared_error";  ///< name in logs and histories
};

/// mean_squared_error as a metric. losses::MeanSquaredError is the loss.
class MEZZO_API MeanSquaredError : public Metric {
 public:
  explicit MeanSquaredError(const MeanSquaredErrorOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return mean_squared_error(y_true, y_pred); }
};

}  // namespace mezzo::metrics
