#include <unordered_map>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// The gradients of a 1 x 1 convolution that are the only readers of the gradient of the norm behind it.
struct Readers {
  const detail::Node* of_input = nullptr;
  const detail::Node* of_kernel = nullptr;
};

/// True for dx of the gradient of a norm that computes the norm's output again.
bool is_gradient_of_norm(const Value& value) {
  return is(value, ops::batch_norm_gradient) && value.output() == 0 &&
         value.node()->attributes.get_or("shift", false) && !value.node()->attributes.get_or("masked", false);
}

/// The readers of each norm's gradient that are gradients of a 1 x 1 convolution.
std::unordered_map<const detail::Node*, Readers> readers_of_gradients(const Graph& graph) {
  std::unordered_map<const detail::Node*, Readers> all;
  for (const detail::NodePtr& node : graph.nodes) {
    if (is(*node, ops::conv2d_input_gradient) && is_gradient_of_norm(node->inputs[0])) {
      all[node->inputs[0].node().get()].of_input = node.get();
    } else if (is(*node, ops::conv2d_kernel_gradient) && is_gradient_of_norm(node->inputs[1])) {
      all[node->inputs[1].node().get()].of_kernel = node.get();
    }
  }
  return all;
}

/// The node of all gradients. `norm`: the inputs of the norm's gradient.
detail::NodePtr joined(const detail::Node& old, Values norm, const Value& x, const Value& kernel,
                       const Readers& readers) {
  norm.insert(norm.end(), {x, kernel});
  return make_node(ops::pointwise_norm_gradient, std::move(norm), old.attributes,
                   {readers.of_input->outputs[0], readers.of_kernel->outputs[0], old.outputs[1], old.outputs[2]},
                   *readers.of_input);
}

}  // namespace

Graph fuse_norm_gradients(const Graph& graph) {
  const Uses uses(graph);
  const auto readers = readers_of_gradients(graph);
  auto place = places_of(graph);

  /// True if the node of all gradients can replace the norm's gradient, and has a dedicated kernel.
  const auto joins = [&](const detail::Node& norm, const Readers& of) {
    if (of.of_input == nullptr || of.of_kernel == nullptr) return false;
    const Value &kernel = of.of_input->inputs[1], &x = of.of_kernel->inputs[0];
    if (!is_pointwise(of.of_kernel->attributes, kernel.shape()) || kernel.shape() != of.of_kernel->outputs[0].shape ||
        of.of_input->outputs[0] != Spec{x.shape(), x.dtype()} ||
        of.of_kernel->outputs[0].dtype != accumulation_dtype(x.dtype()) || place[kernel.node().get()] > place[&norm] ||
        place[x.node().get()] > place[&norm]) {
      return false;
    }
    return chosen_implementation(request_of(*joined(norm, norm.inputs, x, kernel, of))) == "pointwise";
  };

  std::unordered_map<const detail::Node*, Value> replaced;  // by reader
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (const auto value = replaced.find(old.get()); value != replaced.end()) return {value->second};
    const auto found = readers.find(old.get());
    if (found == readers.end() || uses.of(Value(old, 0)) != 2 || !joins(*old, found->second)) return {};
    const Readers& of = found->second;
    const Values all =
        to.add(joined(*old, node->inputs, to.of(of.of_kernel->inputs[0]), to.of(of.of_input->inputs[1]), of));
    replaced[of.of_input] = all[0];
    replaced[of.of_kernel] = all[1];
    return {node->inputs[0], all[2], all[3]};  // the first has no reader any more
  });
}

}  // namespace mezzo
