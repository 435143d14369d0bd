#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct MeanAbsoluteErrorOptions {
  std::string name = "mean_absolute_error";  ///< name in logs and histories
};

/// mean_absolute_error as a metric. losses::MeanAbsoluteError is the loss.
class MEZZO_API MeanAbsoluteError : public Metric {
 public:
  explicit MeanAbsoluteError(const MeanAbsoluteErrorOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return mean_absolute_error(y_true, y_pred); }
};

}  // namespace mezzo::metrics
