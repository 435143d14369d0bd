#pragma once
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

/// A loss as a metric: its mean, under its name.
class LossMetric : public Metric {
 public:
  explicit LossMetric(Any<Loss> loss) : Metric(loss->name()), loss_(std::move(loss)) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return loss_->call(y_true, y_pred); }

 private:
  Any<Loss> loss_;
};

}  // namespace mezzo::metrics
