#include <mezzo/training/step/conditional_updates.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace mezzo::detail {

void ConditionalUpdates::note(const Graph& graph, int group) {
  Noted& noted = noted_.emplace_back(Noted{graph.nodes.size(), {}});
  for (const Graph::Update& update : graph.updates) {
    if (update.group == group) noted.results.push_back(update.value);
  }
}

bool ConditionalUpdates::read_in(const Graph& graph) const {
  for (const Noted& noted : noted_) {
    std::set<std::pair<const Node*, int>> results;
    for (const Value& value : noted.results) results.emplace(value.node().get(), value.output());
    const auto is_result = [&](const Value& value) { return results.count({value.node().get(), value.output()}) == 1; };
    for (std::size_t i = noted.nodes; i < graph.nodes.size(); ++i) {
      const Values& inputs = graph.nodes[i]->inputs;
      if (std::any_of(inputs.begin(), inputs.end(), is_result)) return true;
    }
    const auto reads = [&](const Graph::Output& output) { return is_result(output.value); };
    if (std::any_of(graph.outputs.begin(), graph.outputs.end(), reads)) return true;
  }
  return false;
}

}  // namespace mezzo::detail
