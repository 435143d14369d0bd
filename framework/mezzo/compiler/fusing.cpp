#include <unordered_map>
#include <unordered_set>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

bool takes_epilogue(const detail::Node& node) { return is(node, ops::matmul) || is(node, ops::conv2d); }

/// The bias that `node`, an add, adds to each row of the product in input `i`; undefined if it adds something else. A
/// bias that was cast from float32 is returned as float32, since the kernel adds it to its accumulator.
Value bias_of(const detail::Node& node, std::size_t i) {
  const Value& product = node.inputs[i];
  Value bias = node.inputs[1 - i];
  if (bias.shape() != Shape{product.shape().back()} || node.outputs.front() != product.node()->outputs.front()) {
    return {};
  }
  if (is(bias, ops::cast)) {
    const Value& source = bias.node()->inputs.front();
    if (source.dtype() == accumulation_dtype(bias.dtype())) bias = source;
  }
  return bias;
}

Values with_epilogue(const detail::Node& product, Values inputs, Attributes attributes, Rewriter& to) {
  return to.add(make_node(*product.op, std::move(inputs), std::move(attributes), product.outputs, product));
}

/// True if the node is a sum of relu_gradient's output with the axes, shape and dtype of output 1 of
/// relu_bias_gradient: the gradient of a bias.
bool sums_bias(const detail::Node& node) {
  if (!is(node, ops::sum) || !is(node.inputs.front(), ops::relu_gradient)) return false;
  const Value& x = node.inputs.front();
  if (x.node()->attributes.has("max_value")) return false;
  Shape leading;
  for (std::size_t i = 0; i + 1 < x.shape().size(); ++i) leading.push_back(static_cast<std::int64_t>(i));
  return !leading.empty() && node.attributes.get<Shape>("axes") == leading &&
         node.outputs.front() == Spec{{x.shape().back()}, accumulation_dtype(x.dtype())};
}

}  // namespace

Graph fuse_epilogues(const Graph& graph) {
  const Graph biased = [&] {
    const Uses uses(graph);
    return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
      if (!is(*node, ops::add)) return {};
      for (std::size_t i = 0; i < 2; ++i) {
        const Value& product = node->inputs[i];
        const detail::Node& before = *product.node();
        const bool bare = before.inputs.size() == 2 && !before.attributes.has("epilogue");
        if (!takes_epilogue(before) || !bare || uses.of(old->inputs[i]) != 1) continue;
        const Value bias = bias_of(*node, i);
        if (!bias.defined()) continue;
        return with_epilogue(before, {before.inputs[0], before.inputs[1], bias}, before.attributes, to);
      }
      return {};
    });
  }();
  const Uses uses(biased);
  return rewrite(biased, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (!is(*node, ops::relu) || node->attributes.has("max_value")) return {};
    const detail::Node& before = *node->inputs.front().node();
    if (!takes_epilogue(before) || uses.of(old->inputs.front()) != 1 || before.attributes.has("epilogue")) return {};
    Attributes attributes = before.attributes;
    attributes.set("epilogue", detail::Epilogue::relu);
    return with_epilogue(before, before.inputs, std::move(attributes), to);
  });
}

Graph fuse_bias_gradients(const Graph& graph) {
  std::unordered_set<const detail::Node*> summed;
  for (const detail::NodePtr& node : graph.nodes) {
    if (sums_bias(*node)) summed.insert(node->inputs.front().node().get());
  }
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
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

Graph fuse_compute_copies(const Graph& graph) {
  std::unordered_map<const detail::VariableState*, DType> copies;
  for (const detail::NodePtr& node : graph.nodes) {
    if (!is(*node, ops::cast)) continue;
    const detail::Node& source = *node->inputs.front().node();
    if (source.variable && is_floating(node->outputs.front().dtype)) {
      copies.emplace(source.variable.get(), node->outputs.front().dtype);
    }
  }
  return rewrite(graph, [&](const detail::NodePtr&, const detail::NodePtr& node, Rewriter& to) -> Values {
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
