#pragma once
#include <optional>
#include <vector>

#include <mezzo/nn/metric.hpp>

namespace mezzo::detail {

class MetricTracker;
struct RunningFit;

/// Keeps the numbers of metrics in an epoch during another one, such as a validation: metrics are reset within the
/// scope, and continue after it.
class MetricScope {
 public:
  MetricScope(RunningFit& running, MetricTracker& tracker);
  ~MetricScope();
  MetricScope(const MetricScope&) = delete;
  MetricScope& operator=(const MetricScope&) = delete;

  /// Numbers of a metric in the epoch, if it was updated there.
  std::optional<std::vector<Tensor>> numbers_of(const MetricState& metric) const;

 private:
  RunningFit& running_;
  MetricTracker& tracker_;
  const MetricScope* outer_;
  std::vector<Shared<MetricState>> seen_;
  std::vector<std::vector<Tensor>> numbers_;
};

}  // namespace mezzo::detail
