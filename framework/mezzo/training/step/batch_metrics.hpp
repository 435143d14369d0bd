#pragma once
#include <vector>

#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/training/step/logged.hpp>

namespace mezzo::detail {

/// State of a metric after the updates of the running trace alone, as if the metric had been reset before: one value
/// for each of its variables. The updates stay as they are.
Values batch_state(Trace& trace, const MetricState& metric);

/// Adds batch_state() of metrics to the outputs of the running trace, where a number of a batch is logged. `of_ranks`:
/// not of metrics whose sums the reduction after a step of several ranks has.
void add_batch_states(Trace& trace, std::vector<Logged>& logged, bool of_ranks);

/// Result of a metric with that state instead of its own, which is as before afterwards.
double result_of(const Metric& metric, const std::vector<Tensor>& state);

}  // namespace mezzo::detail
