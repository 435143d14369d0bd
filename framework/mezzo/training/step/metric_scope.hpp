#pragma once
#include <optional>
#include <vector>

#include <mezzo/nn/metric.hpp>

namespace mezzo::detail {

class MetricTracker;
struct RunningFit;

/// Sets aside the numbers that metrics have in an epoch while an evaluation uses the same metrics. Restores them at the
/// end of the scope.
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
