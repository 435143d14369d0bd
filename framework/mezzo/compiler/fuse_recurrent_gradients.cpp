#include <unordered_map>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// The array that a value reshapes.
Value reshaped(const Value& value) { return is(value, ops::reshape) ? reshaped(value.node()->inputs[0]) : value; }

/// True for a^T b. The kernel named "outer" supports such products of two matrices without a bias or an epilogue.
bool is_transposed_product(const detail::Node& node) {
  return is(node, ops::matmul) && node.attributes.get_or("transpose_a", false);
}

/// The node of both gradients. `operands`: those of the recurrent kernel's gradient.
detail::NodePtr joined(const detail::Node& recurrent, Values operands, const Value& x, const detail::Node& product) {
  operands.push_back(x);
  Attributes attributes = recurrent.attributes;
  attributes.set("projected", true);
  return make_node(ops::recurrent_kernel_gradient, std::move(operands), std::move(attributes),
                   {recurrent.outputs[0], product.outputs[0]}, recurrent);
}

}  // namespace

Graph fuse_recurrent_gradients(const Graph& graph) {
  auto place = places_of(graph);
  std::unordered_map<const detail::Node*, const detail::Node*> products;  // by the node of the right factor
  for (const detail::NodePtr& node : graph.nodes) {
    if (is_transposed_product(*node)) products[reshaped(node->inputs[1]).node().get()] = node.get();
  }

  /// The gradient of the kernel of the inputs, with the same right factor, if one kernel can compute both gradients.
  const auto partner = [&](const detail::Node& recurrent) -> const detail::Node* {
    const Value d = recurrent.inputs[1];
    const auto found = products.find(d.node().get());
    if (found == products.end()) return nullptr;
    const detail::Node& product = *found->second;
    const Value x = reshaped(product.inputs[0]);
    const Shape wanted{d.shape()[0], d.shape()[1], product.outputs[0].shape[0]};
    if (reshaped(product.inputs[1]).output() != d.output() || x.shape() != wanted ||
        product.outputs[0].dtype != recurrent.outputs[0].dtype || place[x.node().get()] > place[&recurrent] ||
        place[&product] < place[&recurrent]) {
      return nullptr;
    }
    const bool own = chosen_implementation(request_of(product)) == "outer" &&
                     chosen_implementation(request_of(*joined(recurrent, recurrent.inputs, x, product))) == "outer";
    return own ? &product : nullptr;
  };

  std::unordered_map<const detail::Node*, Value> replaced;
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (const auto value = replaced.find(old.get()); value != replaced.end()) return {value->second};
    if (!is(*old, ops::recurrent_kernel_gradient)) return {};
    const detail::Node* const product = partner(*old);
    if (product == nullptr) return {};
    const Values both = to.add(joined(*old, node->inputs, to.of(reshaped(product->inputs[0])), *product));
    replaced[product] = both[1];
    return {both[0]};
  });
}

}  // namespace mezzo
