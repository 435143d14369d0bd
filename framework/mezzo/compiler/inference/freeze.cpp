#include <mezzo/compiler/inference/freeze.hpp>

#include <algorithm>
#include <unordered_map>

#include <mezzo/compiler/inference/fold_scales.hpp>
#include <mezzo/compiler/inference/fuse_finishes.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/graph/op_registry.hpp>

namespace mezzo::detail {
namespace {

/// Leaves of one graph: equal arrays have one leaf, so that equal nodes on them are merged.
class Leaves {
 public:
  Value of(const Tensor& numbers, const Node& origin, Rewriter& to) {
    Value& leaf = leaves_[identity_of(numbers)];
    if (!leaf.defined()) leaf = to.add(frozen_leaf(numbers, origin)).front();
    return leaf;
  }

 private:
  std::unordered_map<std::string, Value> leaves_;
};

Graph with_constants(const Graph& traced, FrozenConstants& constants) {
  Leaves leaves;
  return rewrite(traced, [&](const NodePtr&, const NodePtr& node, Rewriter& to) -> Values {
    if (node->variable && node->op->infer == nullptr) {
      return {leaves.of(constants.value_of(node->variable), *node, to)};
    }
    if (!is(*node, constant_op())) return {};
    return {leaves.of(constants.shared(node->attributes.get<Tensor>("value")), *node, to)};
  });
}

bool has_function(const Attributes& attributes) {
  const auto& entries = attributes.entries();
  return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
    return std::holds_alternative<std::shared_ptr<const AttributeFunction>>(entry.second);
  });
}

/// True if the results can replace the node: they don't change from run to run and are not much larger than the
/// operands, such as those of broadcast_to.
bool is_constant(const Node& node) {
  if (node.op->infer == nullptr || node.inputs.empty() || has_effect(node) || has_function(node.attributes)) {
    return false;
  }
  constexpr std::size_t small = 65536;
  // A convolution or a recurrence would dequantize its kernel in each run.
  const bool always = node.op == &dequantize_op();
  std::size_t read = 0, written = 0;
  for (const Value& input : node.inputs) {
    if (frozen_value(*input.node()) == nullptr) return false;
    read += bytes_of({input.shape(), input.dtype()});
  }
  for (const Spec& spec : node.outputs) written += bytes_of(spec);
  return always || written <= 2 * read + small;
}

Graph compute_constants(const Graph& graph, FrozenConstants& constants) {
  Leaves leaves;
  return rewrite(graph, [&](const NodePtr&, const NodePtr& node, Rewriter& to) -> Values {
    if (const Tensor* const numbers = frozen_value(*node)) return {leaves.of(*numbers, *node, to)};
    if (!is_constant(*node)) return {};
    std::vector<Tensor> operands;
    for (const Value& input : node->inputs) operands.push_back(*frozen_value(*input.node()));
    Values values;
    for (const Tensor& result : constants.results_of(*node, operands)) values.push_back(leaves.of(result, *node, to));
    return values;
  });
}

}  // namespace

Graph freeze(const Graph& traced, FrozenConstants& constants) {
  if (!traced.updates.empty()) {
    fail<ValueError>("[freeze]", "the graph must not update variables; got {} updates, the first of \"{}\"",
                     traced.updates.size(), traced.updates.front().variable->name);
  }
  Graph graph = simplify(with_constants(traced, constants));
  // Before casts are computed: a bias is added as float32, and kernels are scaled as float32.
  graph = fuse_epilogues(fold_scales(fuse_epilogues(graph), constants));
  return simplify(fuse_finishes(simplify(compute_constants(graph, constants))));
}

}  // namespace mezzo::detail
