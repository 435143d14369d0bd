#include <mezzo/nn/metric.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

/// The mean of a loss, as a metric of the loss's name.
class LossMetric : public Metric {
 public:
  explicit LossMetric(Any<Loss> loss) : Metric(loss->name()), loss_(std::move(loss)) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return loss_->call(y_true, y_pred); }

 private:
  Any<Loss> loss_;
};

}  // namespace

Any<Metric> Metric::of_loss(Any<Loss> loss) {
  if (!loss) fail<ValueError>("[Metric]", "a loss must be given to make a metric of it; got an empty Any<Loss>");
  return LossMetric(std::move(loss));
}

}  // namespace mezzo
