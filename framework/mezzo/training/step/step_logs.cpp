// Numbers that a StepRunner's last step logged.
#include <algorithm>

#include <mezzo/training/step/batch_metrics.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {
namespace {

/// True if the step that is being traced updates the metric.
bool updates(const Graph& graph, const MetricState& metric) {
  return std::any_of(graph.updates.begin(), graph.updates.end(), [&](const Graph::Update& update) {
    return std::any_of(metric.variables.begin(), metric.variables.end(),
                       [&](const Variable& one) { return one.state().pointer() == update.variable; });
  });
}

/// Initial value of a metric's variable plus the sums that the step of several ranks has added to it.
Tensor sum_of(const RankVariables& ranked, const std::vector<double>& added, const VariableState& variable,
              double initial) {
  auto next = added.begin();
  std::vector<double> numbers(static_cast<std::size_t>(variable.value.size()), initial);
  for (const auto& one : ranked.sums) {
    if (one.get() == &variable) {
      std::transform(numbers.begin(), numbers.end(), next, numbers.begin(), std::plus<>());
      break;
    }
    next += static_cast<std::ptrdiff_t>(one->value.size());
  }
  return {variable.value.shape(), numbers};
}

}  // namespace

double StepRunner::value(std::size_t i) const {
  const Logged& logged = (*logged_)[i];
  if (logged.metric) return logged.metric->result().item();
  if (part_) return rank_values_[logged.output];
  return options_.eager ? eager_values_[logged.output].item() : step_->plan->scalar(logged.output);
}

void StepRunner::add_batch_states(std::vector<Logged>& logged) const {
  Trace& trace = *Trace::current();
  for (Logged& one : logged) {
    if (!one.of_batch()) continue;
    const MetricState& state = *one.metric->state();
    one.targets.running = !updates(trace.graph(), state);
    if (one.targets.running || part_) continue;  // of several ranks, the reduction after the step has the sums
    one.output = trace.graph().outputs.size();
    for (const Value& value : batch_state(trace, state)) trace.output(one.name, value);
  }
}

std::optional<double> StepRunner::batch_result(const Any<Metric>& metric) const {
  if (logged_ == nullptr || skipped_) return {};
  const auto logged = std::find_if(logged_->begin(), logged_->end(), [&](const Logged& one) {
    return one.metric && one.metric->state().get() == metric->state().get();
  });
  if (logged == logged_->end() || !logged->of_batch()) return metric->result().item();
  const MetricState& state = *metric->state();
  std::vector<Tensor> numbers;
  for (std::size_t i = 0; i < state.variables.size(); ++i) {
    const std::size_t output = logged->output + i;
    if (part_) {
      numbers.push_back(sum_of(step_->ranked, rank_sums_, *state.variables[i].state(), state.initial[i]));
    } else {
      numbers.push_back(options_.eager ? eager_values_[output] : step_->plan->output(output));
    }
  }
  return result_of(*metric, numbers);
}

std::vector<Tensor> StepRunner::outputs() const {
  if (options_.eager) {
    return {eager_values_.begin() + static_cast<std::ptrdiff_t>(eager_logged_outputs_), eager_values_.end()};
  }
  std::vector<Tensor> out;
  for (std::size_t i = step_->logged_outputs; i < step_->plan->output_names().size(); ++i) {
    out.push_back(step_->plan->output(i));
  }
  return out;
}

}  // namespace mezzo::detail
