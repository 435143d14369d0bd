#include <mezzo/training/step/batch_metrics.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace mezzo::detail {
namespace {

Tensor filled(const Shape& shape, double number) {
  return {shape, std::vector<double>(static_cast<std::size_t>(element_count(shape)), number)};
}

/// Nodes that a value is computed from, itself included.
std::unordered_set<const Node*> sources_of(const Values& values) {
  std::unordered_set<const Node*> out;
  std::vector<const Node*> pending;
  for (const Value& value : values) pending.push_back(value.node().get());
  while (!pending.empty()) {
    const Node* const node = pending.back();
    pending.pop_back();
    if (!out.insert(node).second) continue;
    for (const Value& input : node->inputs) pending.push_back(input.node().get());
  }
  return out;
}

/// True if the step that is being traced updates the metric.
bool updates(const Graph& graph, const MetricState& metric) {
  return std::any_of(graph.updates.begin(), graph.updates.end(), [&](const Graph::Update& update) {
    return std::any_of(metric.variables.begin(), metric.variables.end(),
                       [&](const Variable& one) { return one.state().pointer() == update.variable; });
  });
}

}  // namespace

void add_batch_states(Trace& trace, std::vector<Logged>& logged, bool of_ranks) {
  for (Logged& one : logged) {
    if (!one.of_batch()) continue;
    const MetricState& state = *one.metric->state();
    one.targets.running = !updates(trace.graph(), state);
    if (one.targets.running || of_ranks) continue;
    one.output = trace.graph().outputs.size();
    for (const Value& value : batch_state(trace, state)) trace.output(one.name, value);
  }
}

Values batch_state(Trace& trace, const MetricState& metric) {
  Values updated;
  for (const Variable& variable : metric.variables) updated.push_back(trace.stored(variable.state().pointer()));
  const std::unordered_set<const Node*> needed = sources_of(updated);
  std::unordered_map<const Node*, Values> replaced;  // outputs of the copies
  const auto value_of = [&](const Value& value) {
    const auto found = replaced.find(value.node().get());
    return found == replaced.end() ? value : found->second[static_cast<std::size_t>(value.output())];
  };
  const std::vector<NodePtr> nodes = trace.graph().nodes;  // a copy: append() adds to the list
  for (const NodePtr& node : nodes) {
    if (needed.count(node.get()) == 0) continue;
    for (std::size_t i = 0; i < metric.variables.size(); ++i) {
      const VariableState& variable = *metric.variables[i].state();
      if (node->variable.get() != &variable) continue;
      replaced[node.get()] = {trace.adopt(filled(variable.value.shape(), metric.initial[i]))};
    }
    const bool depends = std::any_of(node->inputs.begin(), node->inputs.end(),
                                     [&](const Value& input) { return replaced.count(input.node().get()) == 1; });
    if (!depends) continue;
    auto copy = std::make_shared<Node>(*node);
    for (Value& input : copy->inputs) input = value_of(input);
    replaced[node.get()] = trace.append(std::move(copy));
  }
  for (Value& value : updated) value = value_of(value);
  return updated;
}

double result_of(const Metric& metric, const std::vector<Tensor>& state) {
  const std::vector<Tensor> kept = metric.state()->numbers();
  metric.state()->set(state);
  const double result = metric.result().item();
  metric.state()->set(kept);
  return result;
}

}  // namespace mezzo::detail
