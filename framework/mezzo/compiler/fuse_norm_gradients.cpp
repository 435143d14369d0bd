#include <unordered_map>

#include <mezzo/compiler/int8_products.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// Gradients of a convolution that read dx of a norm's gradient.
struct ConvolutionGradients {
  const detail::Node* input = nullptr;
  const detail::Node* kernel = nullptr;
};

/// True for dx of the gradient of a batch norm with ReLU. The gradient computes the ReLU's output again ("shift") and
/// has no further output for readers of the cotangent behind the ReLU ("masked").
bool is_dx_of_norm(const Value& value) {
  return is_first_output(value, ops::batch_norm_gradient) && value.node()->attributes.get_or("shift", false) &&
         !value.node()->attributes.get_or("masked", false);
}

/// Maps the gradient of a norm to the gradients of the convolution that read its dx. The kernel may have any size, and
/// other nodes may read dx too: can_join() checks that.
std::unordered_map<const detail::Node*, ConvolutionGradients> convolution_gradients(const Graph& graph) {
  std::unordered_map<const detail::Node*, ConvolutionGradients> all;
  for (const detail::NodePtr& node : graph.nodes) {
    // The joined kernel multiplies floats, so products of int8 stay apart.
    if (detail::is_int8_product(*node->op, node->attributes)) continue;
    if (is(*node, ops::conv2d_input_gradient) && is_dx_of_norm(node->inputs[0])) {
      all[node->inputs[0].node().get()].input = node.get();
    } else if (is(*node, ops::conv2d_kernel_gradient) && is_dx_of_norm(node->inputs[1])) {
      all[node->inputs[1].node().get()].kernel = node.get();
    }
  }
  return all;
}

/// One node for the gradients of x, kernel, gamma and beta, in this order. `inputs`: those of the norm's gradient.
detail::NodePtr make_joined(const detail::Node& norm_gradient, Values inputs, const Value& x, const Value& kernel,
                            const ConvolutionGradients& convolution) {
  inputs.insert(inputs.end(), {x, kernel});
  return make_node(ops::pointwise_norm_gradient, std::move(inputs), norm_gradient.attributes,
                   {convolution.input->outputs[0], convolution.kernel->outputs[0], norm_gradient.outputs[1],
                    norm_gradient.outputs[2]},
                   *convolution.input);
}

}  // namespace

Graph fuse_norm_gradients(const Graph& graph) {
  const Uses uses(graph);
  const auto convolutions = convolution_gradients(graph);
  const auto places = places_of(graph);

  const auto can_join = [&](const detail::Node& norm_gradient, const ConvolutionGradients& convolution) {
    if (convolution.input == nullptr || convolution.kernel == nullptr) return false;
    const Value &kernel = convolution.input->inputs[1], &x = convolution.kernel->inputs[0];
    const Spec& kernel_gradient = convolution.kernel->outputs[0];
    // Both gradients must be of one 1 x 1 convolution, in the dtypes of the op. make_node() checks none of this. The
    // joined kernel takes arrays that aren't rounded to a narrower dtype.
    if (x.dtype() != accumulation_dtype(x.dtype()) || !is_pointwise(convolution.kernel->attributes, kernel.shape()) ||
        kernel.shape() != kernel_gradient.shape || convolution.input->outputs[0] != Spec{x.shape(), x.dtype()} ||
        kernel_gradient.dtype != accumulation_dtype(x.dtype())) {
      return false;
    }
    // The joined node stands in the place of the norm's gradient, where x and kernel must exist.
    const auto place = places.at(&norm_gradient);
    if (places.at(kernel.node().get()) > place || places.at(x.node().get()) > place) return false;
    // This implementation accepts arrays that exceed the caches, with AVX2. Others would gain nothing.
    const auto trial = make_joined(norm_gradient, norm_gradient.inputs, x, kernel, convolution);
    return chosen_implementation(request_of(*trial)) == "pointwise";
  };

  std::unordered_map<const detail::Node*, Value> replaced;  // by gradient of a convolution
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (const auto value = replaced.find(old.get()); value != replaced.end()) return {value->second};
    const auto found = convolutions.find(old.get());
    // Exactly two readers of dx: the two gradients of the convolution.
    if (found == convolutions.end() || uses.of(Value(old, 0)) != 2 || !can_join(*old, found->second)) return {};
    const ConvolutionGradients& convolution = found->second;
    const Value x = to.of(convolution.kernel->inputs[0]), kernel = to.of(convolution.input->inputs[1]);
    const Values all = to.add(make_joined(*old, node->inputs, x, kernel, convolution));
    replaced[convolution.input] = all[0];
    replaced[convolution.kernel] = all[1];
    const Value& unread = node->inputs[0];  // in the place of dx, whose two readers are replaced
    return {unread, all[2], all[3]};
  });
}

}  // namespace mezzo
