#include <unordered_map>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// The array of which a value is a reshape.
Value reshaped(const Value& value) { return is(value, ops::reshape) ? reshaped(value.node()->inputs[0]) : value; }

/// True for a^T b of two matrices in float32.
bool is_transposed_product(const Node& node) {
  if (!is(node, ops::matmul) || node.inputs.size() != 2 || node.attributes.has("epilogue") ||
      !node.attributes.get_or("transpose_a", false) || node.attributes.get_or("transpose_b", false)) {
    return false;
  }
  const Value &a = node.inputs[0], &b = node.inputs[1];
  return a.shape().size() == 2 && b.shape().size() == 2 && a.dtype() == DType::float32 && b.dtype() == DType::float32 &&
         node.outputs[0].dtype == DType::float32;
}

/// The node of both gradients. `operands`: those of the recurrent kernel's gradient.
NodePtr joined(const Node& recurrent, Values operands, const Value& x, const Node& product) {
  operands.push_back(x);
  Attributes attributes = recurrent.attributes;
  attributes.set("projected", true);
  return make_node(ops::recurrent_kernel_gradient, std::move(operands), std::move(attributes),
                   {recurrent.outputs[0], product.outputs[0]}, recurrent);
}

}  // namespace

Graph fuse_recurrent_gradients(const Graph& graph) {
  std::unordered_map<const Node*, std::size_t> place;
  std::unordered_map<const Node*, const Node*> products;  // by the node of the right factor
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodePtr& node = graph.nodes[i];
    place[node.get()] = i;
    if (is_transposed_product(*node)) products[reshaped(node->inputs[1]).node().get()] = node.get();
  }

  /// The gradient of the kernel of the inputs, with the same right factor, if one kernel can compute both gradients.
  const auto partner = [&](const Node& recurrent) -> const Node* {
    const Value d = recurrent.inputs[1];
    const auto found = products.find(d.node().get());
    if (found == products.end()) return nullptr;
    const Node& product = *found->second;
    const Value x = reshaped(product.inputs[0]);
    const Shape wanted{d.shape()[0], d.shape()[1], product.outputs[0].shape[0]};
    if (reshaped(product.inputs[1]).output() != d.output() || x.shape() != wanted ||
        recurrent.outputs[0].dtype != DType::float32 || place[x.node().get()] > place[&recurrent] ||
        place[&product] < place[&recurrent]) {
      return nullptr;
    }
    const bool own = chosen_implementation(request_of(product)) == "outer" &&
                     chosen_implementation(request_of(*joined(recurrent, recurrent.inputs, x, product))) == "outer";
    return own ? &product : nullptr;
  };

  std::unordered_map<const Node*, Value> replaced;
  return rewrite(graph, [&](const NodePtr& old, const NodePtr& node, Rewriter& to) -> Values {
    if (const auto value = replaced.find(old.get()); value != replaced.end()) return {value->second};
    if (!is(*old, ops::recurrent_kernel_gradient)) return {};
    const Node* const product = partner(*old);
    if (product == nullptr) return {};
    const Values both = to.add(joined(*old, node->inputs, to.of(reshaped(product->inputs[0])), *product));
    replaced[product] = both[1];
    return {both[0]};
  });
}

}  // namespace mezzo
