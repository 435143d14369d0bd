#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

bool bare(const detail::Node& norm) { return !norm.attributes.has("epilogue"); }

/// Attributes of a batch norm with a relu, or with the relu of a relu_gradient.
Attributes with_relu(const detail::Node& norm, const detail::Node& relu) {
  Attributes attributes = norm.attributes;
  attributes.set("epilogue", detail::Epilogue::relu);
  if (relu.attributes.has("max_value")) attributes.set("max_value", relu.attributes.get<double>("max_value"));
  return attributes;
}

/// Upper limit of a relu, or of a norm with one; 0: no limit.
double max_value(const detail::Node& node) { return node.attributes.get_or("max_value", 0.0); }

/// Replaces relu(norm(x)) and relu(norm(x) + residual) by one node at the place of the relu. Readers of the norm's
/// statistics come later and read them from the new node.
Graph fuse_forward(const Graph& graph) {
  const Uses uses(graph);
  const auto is_norm = [&](const Value& value) {
    return is_first_output(value, ops::batch_norm) && bare(*value.node()) && uses.of(value) == 1;
  };
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (!is(*node, ops::relu)) return {};
    Value old_norm = old->inputs.front(), norm = node->inputs.front(), residual;
    if (is_first_output(old_norm, ops::add) && uses.of(old_norm) == 1) {
      const Values &old_terms = old_norm.node()->inputs, &terms = norm.node()->inputs;
      if (Spec{terms[0].shape(), terms[0].dtype()} != Spec{terms[1].shape(), terms[1].dtype()}) return {};
      const std::size_t i = is_norm(old_terms[1]) ? 1 : 0;
      old_norm = old_terms[i];
      residual = terms[1 - i];
      norm = terms[i];
    }
    if (!is_norm(old_norm)) return {};
    const detail::Node& before = *norm.node();
    Values inputs = before.inputs;
    if (residual.defined()) inputs.push_back(residual);
    Attributes attributes = with_relu(before, *node);
    std::vector<Spec> outputs = before.outputs;
    if (!residual.defined()) {
      attributes.set("shift", true);
      outputs.push_back(outputs[1]);
    }
    const Values all =
        to.add(make_node(*before.op, std::move(inputs), std::move(attributes), std::move(outputs), before));
    to.replace(old_norm.node(), Values(all.begin(), all.begin() + 5));
    return {all.front()};
  });
}

/// Moves relu_gradient into the gradient of a fused batch norm: the node takes the cotangent of the relu's output, and
/// that output or the norm's shift. With the shift it computes the output again, and reads one array less. If other
/// nodes read the cotangent of the relu's input (a residual does), it becomes one more output.
Graph fuse_gradient(const Graph& graph) {
  const Uses uses(graph);
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (!is(*node, ops::batch_norm_gradient) || !bare(*node) || !is(node->inputs[0], ops::relu_gradient)) return {};
    const detail::Node& mask = *node->inputs[0].node();
    const Values& masked = mask.inputs;  // the relu's output, and its cotangent
    if (!is_first_output(masked[0], ops::batch_norm) || bare(*masked[0].node())) return {};
    if (max_value(mask) != max_value(*masked[0].node())) return {};
    const bool again = masked[0].node()->attributes.get_or("shift", false);
    Values inputs = node->inputs;
    inputs[0] = masked[1];
    inputs.push_back(again ? Value(masked[0].node(), 5) : masked[0]);
    std::vector<Spec> outputs = node->outputs;
    const bool shared = uses.of(old->inputs[0]) > 1;
    if (shared) outputs.push_back({node->inputs[0].shape(), node->inputs[0].dtype()});
    Attributes attributes = with_relu(*node, mask);
    attributes.set("masked", shared);
    attributes.set("shift", again);
    Values all = to.add(make_node(*node->op, std::move(inputs), std::move(attributes), std::move(outputs), *node));
    if (shared) {
      to.replace(old->inputs[0].node(), {all.back()});
      all.pop_back();
    }
    return all;
  });
}

}  // namespace

Graph fuse_batch_norm(const Graph& graph) { return fuse_gradient(fuse_forward(graph)); }

}  // namespace mezzo
