#include <mezzo/training/step/metric_tracker.hpp>

#include <algorithm>

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

}  // namespace mezzo::detail
