#pragma once
#include <optional>
#include <utility>
#include <vector>

#include <mezzo/nn/metric.hpp>

namespace mezzo::detail {

class StepRunner;

/// Metrics that steps update. Resets each before its first update after begin().
class MetricTracker : public MetricListener {
 public:
  void before_update(const Shared<MetricState>& state) override;

  /// The next update of each metric starts anew.
  void begin() { seen_.clear(); }

  /// Metrics updated since the last begin(), and their numbers.
  const std::vector<Shared<MetricState>>& seen() const { return seen_; }
  void continue_with(std::vector<Shared<MetricState>> seen) { seen_ = std::move(seen); }

  /// Metrics that the step in progress updates.
  std::vector<Shared<MetricState>> updated;

 private:
  std::vector<Shared<MetricState>> seen_;
};

/// Keeps the numbers of metrics in an epoch during another one, such as a validation: metrics start anew within the
/// scope, and continue after it.
class MetricScope {
 public:
  explicit MetricScope(StepRunner& runner);
  ~MetricScope();
  MetricScope(const MetricScope&) = delete;
  MetricScope& operator=(const MetricScope&) = delete;

  /// Numbers of a metric in the epoch, if it was updated there.
  std::optional<std::vector<Tensor>> numbers_of(const MetricState& metric) const;

 private:
  StepRunner& runner_;
  const MetricScope* outer_;
  std::vector<Shared<MetricState>> seen_;
  std::vector<std::vector<Tensor>> numbers_;
};

}  // namespace mezzo::detail
