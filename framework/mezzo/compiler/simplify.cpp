#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include <mezzo/compiler/inference/frozen_constants.hpp>
#include <mezzo/compiler/pass_attributes.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// True if a cast of any number of dtype `narrow` to `wide` and back is exact.
bool holds(DType wide, DType narrow) {
  return wide == narrow || (is_floating(wide) && is_floating(narrow) && promote(wide, narrow) == wide);
}

/// The value that can replace a node without effect (a cast, reshape or identity); undefined for other nodes.
Value without_effect(const detail::Node& node) {
  const Value& x = node.inputs.front();
  const Spec& out = node.outputs.front();
  if (is(node, ops::stop_gradient) || is(node, ops::identity) || is(node, ops::custom_gradient)) return x;
  if (is(node, ops::reshape) && x.shape() == out.shape) return x;
  if (is(node, ops::reshape) && is(x, ops::reshape) && x.node()->inputs.front().shape() == out.shape) {
    return x.node()->inputs.front();
  }
  if (!is(node, ops::cast)) return {};
  if (x.dtype() == out.dtype) return x;
  if (is(x, ops::join_master) && out.dtype == DType::bfloat16) return x.node()->inputs.front();
  if (is(x, ops::cast)) {
    const Value& origin = x.node()->inputs.front();
    if (origin.dtype() == out.dtype && holds(x.dtype(), origin.dtype())) return origin;
  }
  return {};
}

bool leaf(const detail::Node& node) { return node.op->infer == nullptr; }

std::string key_of_node(const detail::Node& node) {
  std::string key = fmt::format("{}|{}|{}", node.op->name, node.attributes.to_string(), node.again);
  for (const Value& input : node.inputs) {
    key += fmt::format("|{}.{}", static_cast<const void*>(input.node().get()), input.output());
  }
  // Norms that are computed again stay apart, so that the result of the first need not stay in memory.
  if (node.attributes.has(detail::again)) key += fmt::format("|{}", static_cast<const void*>(&node));
  return key;
}

/// The gather of bfloat16 rows in place of one from a split master.
detail::NodePtr gather_of_half(const detail::Node& node) {
  const Values inputs{node.inputs[0].node()->inputs.front(), node.inputs[1]};
  return make_node(*node.op, inputs, node.attributes, {{node.outputs.front().shape, DType::bfloat16}}, node);
}

Graph fold_and_share(const Graph& graph) {
  std::unordered_map<std::string, Values> known;
  const std::unordered_set<const detail::Node*> rounded = gathers_cast_to_bfloat16(graph);
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (rounded.count(old.get()) == 1 && is(node->inputs[0], ops::join_master)) return to.add(gather_of_half(*node));
    if (!node->inputs.empty()) {
      const Value same = without_effect(*node);
      if (same.defined()) return {same};
    }
    if ((leaf(*node) && !is(*node, constant_op())) || detail::has_effect(*node)) return {};
    if (detail::frozen_value(*node) != nullptr) return {};  // each array has one leaf; the key would hash all bytes
    Values& values = known[key_of_node(*node)];
    if (values.empty()) values = to.add(node);
    return values;
  });
}

Graph drop_dead(const Graph& graph) {
  std::unordered_set<const detail::Node*> live;
  const auto keep = [&](const Value& value) { live.insert(value.node().get()); };
  for (const auto& output : graph.outputs) keep(output.value);
  for (const auto& update : graph.updates) keep(update.value);
  for (const auto& gate : graph.gates) keep(gate.ok);
  for (const Value& input : graph.inputs) keep(input);
  Graph out = graph;
  out.nodes.clear();
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const detail::NodePtr& node = graph.nodes[i];
    if (live.count(node.get()) == 0 && !detail::has_effect(*node)) continue;
    for (const Value& input : node->inputs) keep(input);
    live.insert(node.get());
  }
  for (const detail::NodePtr& node : graph.nodes) {
    if (live.count(node.get()) != 0) out.nodes.push_back(node);
  }
  return out;
}

}  // namespace

std::unordered_set<const detail::Node*> gathers_cast_to_bfloat16(const Graph& graph) {
  std::unordered_map<detail::NodePtr, int> casts;
  for (const detail::NodePtr& node : graph.nodes) {
    if (!is(*node, ops::cast) || node->outputs.front().dtype != DType::bfloat16) continue;
    const detail::NodePtr& source = node->inputs.front().node();
    if (is(*source, ops::gather)) ++casts[source];
  }
  std::unordered_set<const detail::Node*> out;
  if (casts.empty()) return out;
  const Uses uses(graph);
  for (const auto& [gather, count] : casts) {
    if (uses.of({gather, 0}) == count) out.insert(gather.get());
  }
  return out;
}

Graph simplify(const Graph& graph) { return drop_dead(fold_and_share(graph)); }

}  // namespace mezzo
