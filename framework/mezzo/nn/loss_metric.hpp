#pragma once
#include <utility>

#include <mezzo/nn/loss.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::detail {

struct LossMetricOptions {
  Any<Loss> loss{};  ///< required
};

/// The mean of a loss, as a metric of the loss's name.
class LossMetric : public Metric {
 public:
  /// A ValueError for an empty loss.
  explicit LossMetric(const LossMetricOptions& options);
  Value call(const Value& y_true, const Value& y_pred) const override { return loss_->call(y_true, y_pred); }
  const Loss& loss() const { return *loss_; }

 private:
  Any<Loss> loss_;
};

}  // namespace mezzo::detail
