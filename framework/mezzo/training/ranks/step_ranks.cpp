#include <mezzo/training/ranks/step_ranks.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {
namespace {

/// True if a value is a sum with the variable as a term.
bool adds_to(const VariableState* variable, Value value) {
  while (is(*value.node(), ops::add) || is(*value.node(), ops::identity)) {
    Value next;
    for (const Value& input : value.node()->inputs) {
      if (input.node()->variable.get() == variable) return true;
      if (is(*input.node(), ops::add)) next = input;
    }
    if (!next.defined()) return false;
    value = next;
  }
  return false;
}

const MetricState* owner_of(const VariableState* variable, const std::vector<Shared<MetricState>>& metrics) {
  for (const auto& metric : metrics) {
    for (const Variable& one : metric->variables) {
      if (one.state().get() == variable) return metric.get();
    }
  }
  return nullptr;
}

void append(std::vector<double>& numbers, const VariableState& variable) {
  const std::vector<double> own = variable.numbers().to_doubles();
  numbers.insert(numbers.end(), own.begin(), own.end());
}

}  // namespace

RankVariables RankVariables::of(const Graph& graph, const Module& module,
                                const std::vector<Shared<MetricState>>& metrics) {
  RankVariables out;
  const auto add_once = [](std::vector<std::shared_ptr<VariableState>>& to, const auto& variable) {
    if (std::find(to.begin(), to.end(), variable) == to.end()) to.push_back(variable);
  };
  const std::vector<Variable> weights = module.weights();
  for (const Graph::Update& update : graph.updates) {
    const VariableState* const variable = update.variable.get();
    if (owner_of(variable, metrics) != nullptr) {
      if (!adds_to(variable, update.value)) {
        fail<ValueError>(
            "[Trainer]",
            "metrics of several ranks must add to their state; got one that computes \"{}\" in another way",
            variable->name);
      }
      add_once(out.sums, update.variable);
      continue;
    }
    if (update.group >= 0 || !is_floating(update.value.dtype())) continue;
    const bool weight =
        std::any_of(weights.begin(), weights.end(), [&](const Variable& one) { return one.state().get() == variable; });
    if (!weight) {
      fail<ValueError>("[Trainer]",
                       "steps of several ranks must update weights and metrics only; got another variable, \"{}\"",
                       variable->name);
    }
    add_once(out.means, update.variable);
  }
  return out;
}

void StepRanks::begin() {
  before_.clear();
  for (const auto& variable : variables_.sums) append(before_, *variable);
}

void StepRanks::end(std::vector<double>& values) {
  std::vector<double> numbers = values, sums;
  for (const auto& variable : variables_.means) append(numbers, *variable);
  for (double& number : numbers) number = share_ > 0 ? number * share_ : 0;
  const std::size_t means = numbers.size();
  for (const auto& variable : variables_.sums) append(sums, *variable);
  for (std::size_t i = 0; i < sums.size(); ++i) numbers.push_back(share_ > 0 ? sums[i] - before_[i] : 0);
  if (numbers.empty()) return;
  communicator_.all_reduce({numbers.data(), static_cast<std::int64_t>(numbers.size()), DType::float64});
  added_.assign(numbers.begin() + static_cast<std::ptrdiff_t>(means), numbers.end());
  for (std::size_t i = 0; i < sums.size(); ++i) numbers[means + i] += before_[i];
  auto next = numbers.begin();
  for (double& value : values) value = *next++;
  const auto store = [&](const std::vector<std::shared_ptr<VariableState>>& variables) {
    for (const auto& variable : variables) {
      const Tensor own = variable->numbers();
      const auto end = next + static_cast<std::ptrdiff_t>(own.size());
      variable->assign(Tensor(own.shape(), std::vector<double>(next, end)));
      next = end;
    }
  };
  store(variables_.means);
  store(variables_.sums);
}

}  // namespace mezzo::detail
