#include <mezzo/training/step/step_results.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <mezzo/training/step/batch_metrics.hpp>

namespace mezzo::detail {
namespace {

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

std::size_t count_outputs(const std::vector<Logged>& logged) {
  return static_cast<std::size_t>(
      std::count_if(logged.begin(), logged.end(), [](const Logged& entry) { return !entry.metric; }));
}

void StepResults::take(const CompiledStep& step) {
  step_ = &step;
  logged_ = &step.logged;
  of_ranks_ = false;
}

void StepResults::take(const CompiledStep& step, StepRanks& ranks) {
  take(step);
  of_ranks_ = true;
  rank_values_.clear();
  for (std::size_t i = 0; i < step.logged_outputs; ++i) rank_values_.push_back(step.plan->scalar(i));
  ranks.end(rank_values_);
  rank_sums_ = ranks.added();
}

void StepResults::take(std::vector<Logged> logged, const Graph& eager) {
  step_ = nullptr;
  of_ranks_ = false;
  eager_logged_ = std::move(logged);
  logged_ = &eager_logged_;
  eager_outputs_.clear();
  for (const auto& output : eager.outputs) eager_outputs_.push_back(output.value.tensor());
}

Tensor StepResults::output(std::size_t i) const {
  return step_ == nullptr ? eager_outputs_[i] : step_->plan->output(i);
}

double StepResults::value(std::size_t i) const {
  const Logged& logged = (*logged_)[i];
  if (logged.metric) return logged.metric->result().item();
  if (of_ranks_) return rank_values_[logged.output];
  return step_ == nullptr ? eager_outputs_[logged.output].item() : step_->plan->scalar(logged.output);
}

double StepResults::batch_result(const Any<Metric>& metric) const {
  const auto logged = std::find_if(logged_->begin(), logged_->end(), [&](const Logged& one) {
    return one.metric && one.metric->state().get() == metric->state().get();
  });
  if (logged == logged_->end() || !logged->of_batch()) return metric->result().item();
  const MetricState& state = *metric->state();
  std::vector<Tensor> numbers;
  for (std::size_t i = 0; i < state.variables.size(); ++i) {
    if (of_ranks_) {
      numbers.push_back(sum_of(step_->ranked, rank_sums_, *state.variables[i].state(), state.initial[i]));
    } else {
      numbers.push_back(output(logged->output + i));
    }
  }
  return result_of(*metric, numbers);
}

std::vector<Tensor> StepResults::outputs() const {
  const std::size_t begin = step_ == nullptr ? count_outputs(eager_logged_) : step_->logged_outputs;
  const std::size_t end = step_ == nullptr ? eager_outputs_.size() : step_->plan->output_names().size();
  std::vector<Tensor> out;
  for (std::size_t i = begin; i < end; ++i) out.push_back(output(i));
  return out;
}

}  // namespace mezzo::detail
