#pragma once
#include <utility>
#include <vector>

#include <mezzo/nn/metric.hpp>

namespace mezzo::detail {

/// Metrics that steps update. Resets each before its first update after begin().
class MetricTracker : public MetricListener {
 public:
  void before_update(const Shared<MetricState>& state) override;

  /// Resets each metric before its next update.
  void begin() { seen_.clear(); }

  /// Metrics updated since the last begin(), and their numbers.
  const std::vector<Shared<MetricState>>& seen() const { return seen_; }
  void continue_with(std::vector<Shared<MetricState>> seen) { seen_ = std::move(seen); }

  /// Metrics that the step in progress updates.
  std::vector<Shared<MetricState>> updated;

 private:
  std::vector<Shared<MetricState>> seen_;
};

}  // namespace mezzo::detail
