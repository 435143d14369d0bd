#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

bool takes_epilogue(const Node& node) { return is(node, ops::matmul) || is(node, ops::conv2d); }

/// The bias that `node`, an add, adds to each row of the product in input `i`; undefined if it adds something else. A
/// bias that was cast from float32 is returned as float32, since the kernel adds it to its accumulator.
Value bias_of(const Node& node, std::size_t i) {
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

Values with_epilogue(const Node& product, Values inputs, Attributes attributes, Rewriter& to) {
  return to.add(make_node(*product.op, std::move(inputs), std::move(attributes), product.outputs, product));
}

}  // namespace

Graph fuse_epilogues(const Graph& graph) {
  const Graph biased = [&] {
    const Uses uses(graph);
    return rewrite(graph, [&](const NodePtr& old, const NodePtr& node, Rewriter& to) -> Values {
      if (!is(*node, ops::add)) return {};
      for (std::size_t i = 0; i < 2; ++i) {
        const Value& product = node->inputs[i];
        const Node& before = *product.node();
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
  return rewrite(biased, [&](const NodePtr& old, const NodePtr& node, Rewriter& to) -> Values {
    if (!is(*node, ops::relu)) return {};
    const Node& before = *node->inputs.front().node();
    if (!takes_epilogue(before) || uses.of(old->inputs.front()) != 1 || before.attributes.has("epilogue")) return {};
    Attributes attributes = before.attributes;
    attributes.set("epilogue", Epilogue::relu);
    return with_epilogue(before, before.inputs, std::move(attributes), to);
  });
}

}  // namespace mezzo
