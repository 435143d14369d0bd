#include <unordered_map>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

Graph fuse_compute_copies(const Graph& graph) {
  std::unordered_map<const VariableState*, DType> copies;
  for (const NodePtr& node : graph.nodes) {
    if (!is(*node, ops::cast)) continue;
    const Node& source = *node->inputs.front().node();
    if (source.variable && is_floating(node->outputs.front().dtype)) {
      copies.emplace(source.variable.get(), node->outputs.front().dtype);
    }
  }
  return rewrite(graph, [&](const NodePtr&, const NodePtr& node, Rewriter& to) -> Values {
    if (node->op->in_place.empty() || node->attributes.has("copy_dtype") || node->attributes.has("kept")) {
      return {};
    }
    const auto& variable = node->inputs.front().node()->variable;
    const auto found = variable ? copies.find(variable.get()) : copies.end();
    if (found == copies.end()) return {};
    Attributes attributes = node->attributes;
    attributes.set("copy_dtype", found->second);
    std::vector<Spec> outputs = node->outputs;
    outputs.push_back({outputs.front().shape, found->second});
    return to.add(make_node(*node->op, node->inputs, std::move(attributes), std::move(outputs), *node));
  });
}

}  // namespace mezzo
