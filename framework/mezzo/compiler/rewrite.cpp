#include <mezzo/compiler/rewrite.hpp>

#include <mezzo/compiler/inference/frozen_constants.hpp>

namespace mezzo {
namespace {

/// The new graph, and the values in it that replace the outputs of the old graph's nodes.
class Renewed final : public Rewriter {
 public:
  Values add(const detail::NodePtr& node) override {
    graph.nodes.push_back(node);
    return detail::outputs_of(node);
  }

  void replace(const detail::NodePtr& old, Values values) override { values_[old.get()] = std::move(values); }

  Value of(const Value& value) const override {
    const auto found = values_.find(value.node().get());
    return found == values_.end() ? value : found->second[static_cast<std::size_t>(value.output())];
  }

  Graph graph;

 private:
  std::unordered_map<const detail::Node*, Values> values_;
};

detail::NodePtr with_inputs(const detail::NodePtr& node, const Renewed& renewed) {
  bool changed = false;
  Values inputs;
  for (const Value& input : node->inputs) {
    inputs.push_back(renewed.of(input));
    changed |= !inputs.back().same_as(input);
  }
  if (!changed) return node;
  detail::NodePtr copy = make_node(*node->op, std::move(inputs), node->attributes, node->outputs, *node);
  copy->variable = node->variable;
  return copy;
}

}  // namespace

Uses::Uses(const Graph& graph) {
  const auto count = [&](const Value& value) {
    auto& counts = counts_[value.node().get()];
    counts.resize(value.node()->outputs.size());
    ++counts[static_cast<std::size_t>(value.output())];
  };
  for (const detail::NodePtr& node : graph.nodes) {
    for (const Value& input : node->inputs) count(input);
  }
  for (const auto& output : graph.outputs) count(output.value);
  for (const auto& update : graph.updates) count(update.value);
  for (const auto& gate : graph.gates) count(gate.ok);
}

int Uses::of(const Value& value) const {
  const auto found = counts_.find(value.node().get());
  return found == counts_.end() ? 0 : found->second[static_cast<std::size_t>(value.output())];
}

bool is_first_output(const Value& value, const Op& op) { return is(value, op) && value.output() == 0; }

Value base_of(Value value) {
  while (value.node()->op->view) value = value.node()->inputs.front();
  return value;
}

std::unordered_map<const detail::Node*, std::size_t> places_of(const Graph& graph) {
  std::unordered_map<const detail::Node*, std::size_t> places;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) places[graph.nodes[i].get()] = i;
  return places;
}

detail::NodePtr make_node(const Op& op, Values inputs, Attributes attributes, std::vector<Spec> outputs,
                          const detail::Node& origin) {
  auto node = std::make_shared<detail::Node>();
  node->op = &op;
  node->inputs = std::move(inputs);
  node->attributes = std::move(attributes);
  node->outputs = std::move(outputs);
  node->where = origin.where;
  node->path = origin.path;
  node->again = origin.again;
  return node;
}

KernelRequest request_of(const detail::Node& node) {
  KernelRequest request{node.op, node.attributes, {}, node.outputs, node.where};
  for (const Value& input : node.inputs) {
    if (const Tensor* const numbers = detail::frozen_value(*input.node())) {
      request.constants.emplace(request.inputs.size(), *numbers);
    }
    request.inputs.push_back({input.shape(), input.dtype()});
  }
  return request;
}

Graph rewrite(const Graph& graph, const Rule& rule) {
  Renewed renewed;
  for (const detail::NodePtr& old : graph.nodes) {
    const detail::NodePtr node = with_inputs(old, renewed);
    Values values = rule(old, node, renewed);
    if (values.empty()) values = renewed.add(node);
    renewed.replace(old, std::move(values));
  }
  Graph& out = renewed.graph;
  for (const Value& input : graph.inputs) out.inputs.push_back(renewed.of(input));
  for (const auto& output : graph.outputs) out.outputs.push_back({output.name, renewed.of(output.value)});
  for (const auto& update : graph.updates) {
    out.updates.push_back({update.variable, renewed.of(update.value), update.group});
  }
  for (const auto& gate : graph.gates) {
    out.gates.push_back({renewed.of(gate.ok), gate.group, gate.on_failure, gate.error});
  }
  return std::move(out);
}

}  // namespace mezzo
