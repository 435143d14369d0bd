#include <string>
#include <unordered_map>
#include <utility>

#include <mezzo/compiler/int8_products.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// The convolution op that takes the input of a norm in place of its output; null: none.
const Op* normalizing(const detail::Node& reader) {
  if (is(reader, ops::conv2d_kernel_gradient)) return &ops::normalized_conv2d_kernel_gradient;
  const bool bare = reader.inputs.size() == 2 && !reader.attributes.has("epilogue") &&
                    !detail::is_int8_product(*reader.op, reader.attributes);
  return is(reader, ops::conv2d) && bare ? &ops::normalized_conv2d : nullptr;
}

/// True for an output of a norm that its readers can compute from the norm's shift: of a norm with a relu and without a
/// residual. Kernels that normalize their input do so without rounding, so outputs of a narrower dtype are stored.
bool is_computed_again(const Value& y) {
  return is_first_output(y, ops::batch_norm) && y.node()->attributes.get_or("shift", false) &&
         y.dtype() == y.node()->outputs[1].dtype;
}

/// The reader of a norm's output y as a reader of x, the norm's input. `channels`: gamma, mean, inverse deviation and
/// shift of the norm.
detail::NodePtr reader_of_input(const detail::Node& reader, const detail::Node& norm, const Value& x,
                                const Values& channels) {
  Values inputs{x, reader.inputs[1]};
  inputs.insert(inputs.end(), channels.begin(), channels.end());
  Attributes attributes = reader.attributes;
  if (norm.attributes.has("max_value")) attributes.set("max_value", norm.attributes.get<double>("max_value"));
  return make_node(*normalizing(reader), std::move(inputs), std::move(attributes), reader.outputs, reader);
}

/// True if the reader of a norm's output has the same implementation for the norm's input.
bool can_read_input(const detail::Node& reader) {
  if (normalizing(reader) == nullptr || !is_computed_again(reader.inputs[0])) return false;
  const detail::NodePtr& norm = reader.inputs[0].node();
  if (reader.inputs[1].node() == norm) return false;
  const Values channels{norm->inputs[1], Value(norm, 1), Value(norm, 2), Value(norm, 5)};
  return chosen_implementation(request_of(*reader_of_input(reader, *norm, norm->inputs[0], channels))) ==
         chosen_implementation(request_of(reader));
}

}  // namespace

Graph fuse_normalized_inputs(const Graph& graph) {
  std::unordered_map<const detail::Node*, int> able;  // by norm: readers of its output that can read its input
  for (const detail::NodePtr& node : graph.nodes) {
    if (can_read_input(*node)) ++able[node->inputs[0].node().get()];
  }
  const Uses uses(graph);
  std::unordered_map<const detail::Node*, Values> channels;  // by norm of the old graph
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    const auto found = able.find(old.get());
    if (found != able.end() && found->second == uses.of(Value(old, 0))) {
      const Values all = to.add(make_node(ops::batch_norm_statistics, node->inputs, node->attributes,
                                          {node->outputs.begin() + 1, node->outputs.end()}, *node));
      channels[old.get()] = {node->inputs[1], all[0], all[1], all[4]};
      Values outputs{node->inputs[0]};
      outputs.insert(outputs.end(), all.begin(), all.end());
      return outputs;
    }
    if (normalizing(*old) == nullptr || !is_computed_again(old->inputs[0])) return {};
    const detail::Node& norm = *old->inputs[0].node();
    const auto of_norm = channels.find(&norm);
    if (of_norm == channels.end()) return {};
    return to.add(reader_of_input(*node, norm, node->inputs[0], of_norm->second));
  });
}

}  // namespace mezzo
