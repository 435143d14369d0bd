#include <mezzo/training/step/metric_tracker.hpp>

#include <algorithm>

#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

void MetricTracker::before_update(const Shared<MetricState>& state) {
  const auto add = [&](std::vector<Shared<MetricState>>& to) {
    const auto same = [&](const auto& other) { return other.get() == state.get(); };
    if (std::any_of(to.begin(), to.end(), same)) return false;
    to.push_back(state);
    return true;
  };
  if (add(seen_)) state->reset();
  add(updated);
}

MetricScope::MetricScope(StepRunner& runner)
    : runner_(runner), outer_(training_state(runner.module()).set_aside), seen_(runner.metrics().seen()) {
  for (const auto& metric : seen_) numbers_.push_back(metric->numbers());
  runner.metrics().begin();
  if (outer_ == nullptr) training_state(runner.module()).set_aside = this;
}

std::optional<std::vector<Tensor>> MetricScope::numbers_of(const MetricState& metric) const {
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (seen_[i].get() == &metric) return numbers_[i];
  }
  return {};
}

MetricScope::~MetricScope() {
  training_state(runner_.module()).set_aside = outer_;
  for (std::size_t i = 0; i < seen_.size(); ++i) seen_[i]->set(numbers_[i]);
  runner_.metrics().continue_with(std::move(seen_));
}

}  // namespace mezzo::detail
