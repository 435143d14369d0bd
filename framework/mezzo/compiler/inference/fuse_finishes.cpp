#include <mezzo/compiler/inference/fuse_finishes.hpp>

#include <utility>

#include <mezzo/compiler/inference/frozen_constants.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {
namespace {

/// A product of frozen numbers without a ReLU.
bool is_frozen_product(const Value& value) {
  const Node& node = *value.node();
  if (!is(node, ops::conv2d) && !is(node, ops::matmul) && !is(node, ops::quantized_conv2d)) return false;
  return frozen_value(*node.inputs[1].node()) != nullptr && !node.attributes.has("epilogue");
}

/// True if a kernel of the node computes the residual and the limits with the product.
bool is_one_pass(const Node& node) {
  const std::string name = chosen_implementation(request_of(node));
  return name != "apart" && name != "widen" && name != "reference";
}

Values if_one_pass(const NodePtr& node, Rewriter& to) { return is_one_pass(*node) ? to.add(node) : Values{}; }

Graph fuse_residuals(const Graph& graph) {
  const Uses uses(graph);
  return rewrite(graph, [&](const NodePtr& old, const NodePtr& node, Rewriter& to) -> Values {
    if (!is(*node, ops::add)) return {};
    for (const std::size_t i : {1, 0}) {
      const Value &product = node->inputs[i], &residual = node->inputs[1 - i];
      const Node& before = *product.node();
      const Spec other{residual.shape(), residual.dtype()};
      if (!is_frozen_product(product) || before.attributes.has("residual") || uses.of(old->inputs[i]) != 1) continue;
      if (before.outputs[0] != node->outputs[0] || other != node->outputs[0]) continue;
      Values inputs = before.inputs;
      inputs.push_back(residual);
      Attributes attributes = before.attributes;
      attributes.set("residual", true);
      Values fused =
          if_one_pass(make_node(*before.op, std::move(inputs), std::move(attributes), before.outputs, before), to);
      if (!fused.empty()) return fused;
    }
    return {};
  });
}

Graph fuse_limits(const Graph& graph) {
  const Uses uses(graph);
  return rewrite(graph, [&](const NodePtr& old, const NodePtr& node, Rewriter& to) -> Values {
    if (!is(*node, ops::relu)) return {};
    const Value& product = node->inputs[0];
    if (!is_frozen_product(product) || uses.of(old->inputs[0]) != 1) return {};
    const Node& before = *product.node();
    Attributes attributes = before.attributes;
    attributes.set("epilogue", Epilogue::relu);
    if (node->attributes.has("max_value")) attributes.set("max_value", node->attributes.get<double>("max_value"));
    return if_one_pass(make_node(*before.op, before.inputs, std::move(attributes), before.outputs, before), to);
  });
}

}  // namespace

Graph fuse_finishes(const Graph& graph) { return fuse_limits(fuse_residuals(graph)); }

}  // namespace mezzo::detail
