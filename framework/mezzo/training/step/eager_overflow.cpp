#include <mezzo/training/step/eager_overflow.hpp>

namespace mezzo::detail {

Overflows overflows_in(const Graph& graph) {
  Overflows found;
  const auto look = [&](const NodePtr& node, const std::string& reader) {
    for (std::size_t i = 0; i < node->results.size(); ++i) {
      const Tensor& result = node->results[i];
      if (!all_finite(result.raw(), {result.shape(), result.dtype()})) found.note({node, static_cast<int>(i)}, reader);
    }
  };
  for (const NodePtr& node : graph.nodes) {
    for (const Value& input : node->inputs) {
      if (input.node()->op->infer == nullptr) look(input.node(), node->path);
    }
    if (node->op->infer != nullptr) look(node, {});
  }
  return found;
}

std::optional<Overflow> overflow_of(const Graph& graph, int group) {
  const Overflows found = overflows_in(graph);
  const Graph::Gate* loss = nullptr;
  for (const auto& gate : graph.gates) {
    if (gate.group != group) continue;
    if (loss == nullptr) loss = &gate;
    if (gate.ok.item() != 0) continue;
    if (auto overflow = found.behind(gate.ok, loss->ok)) return overflow;
  }
  return {};
}

}  // namespace mezzo::detail
