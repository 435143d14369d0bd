#include <mezzo/training/step/metric_scope.hpp>

#include <utility>

#include <mezzo/training/step/metric_tracker.hpp>
#include <mezzo/training/step/running_fit.hpp>

namespace mezzo::detail {

MetricScope::MetricScope(RunningFit& running, MetricTracker& tracker)
    : running_(running), tracker_(tracker), outer_(running.set_aside), seen_(tracker.seen()) {
  for (const auto& metric : seen_) numbers_.push_back(metric->numbers());
  tracker_.begin();
  if (outer_ == nullptr) running_.set_aside = this;
}

std::optional<std::vector<Tensor>> MetricScope::numbers_of(const MetricState& metric) const {
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i].get() == &metric) return numbers_[i];
  }
  return {};
}

MetricScope::~MetricScope() {
  running_.set_aside = outer_;
  for (std::size_t i = 0; i < seen_.size(); ++i) seen_[i]->set(numbers_[i]);
  tracker_.continue_with(std::move(seen_));
}

}  // namespace mezzo::detail
