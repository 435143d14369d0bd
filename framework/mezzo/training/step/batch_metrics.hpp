#pragma once
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::detail {

/// State of a metric after the updates of the running trace alone, as if the metric had been reset before: one value
/// for each of its variables. The updates stay as they are.
Values batch_state(Trace& trace, const MetricState& metric);

/// Result of a metric with that state instead of its own, which is as before afterwards.
double result_of(const Metric& metric, const std::vector<Tensor>& state);

}  // namespace mezzo::detail
