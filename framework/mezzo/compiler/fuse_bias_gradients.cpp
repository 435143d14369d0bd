#include <unordered_set>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// True if the node is a sum of relu_gradient's output with the axes, shape and dtype of output 1 of
/// relu_bias_gradient: the gradient of a bias.
bool sums_bias(const Node& node) {
  if (!is(node, ops::sum) || !is(node.inputs.front(), ops::relu_gradient)) return false;
  const Value& x = node.inputs.front();
  Shape leading;
  for (std::size_t i = 0; i + 1 < x.shape().size(); ++i) leading.push_back(static_cast<std::int64_t>(i));
  return !leading.empty() && node.attributes.get<Shape>("axes") == leading &&
         node.outputs.front() == Spec{{x.shape().back()}, accumulation_dtype(x.dtype())};
}

}  // namespace

Graph fuse_bias_gradients(const Graph& graph) {
  std::unordered_set<const Node*> summed;
  for (const NodePtr& node : graph.nodes) {
    if (sums_bias(*node)) summed.insert(node->inputs.front().node().get());
  }
  return rewrite(graph, [&](const NodePtr& old, const NodePtr& node, Rewriter& to) -> Values {
    if (summed.count(old.get()) != 0) {
      const Spec& x = node->outputs.front();
      const std::vector<Spec> outputs{x, {{x.shape.back()}, accumulation_dtype(x.dtype)}};
      return {to.add(make_node(ops::relu_bias_gradient, node->inputs, {}, outputs, *node)).front()};
    }
    // The new input is output 0 of relu_bias_gradient, so output 1 of the same node is the sum.
    if (sums_bias(*old)) return {Value(node->inputs.front().node(), 1)};
    return {};
  });
}

}  // namespace mezzo
