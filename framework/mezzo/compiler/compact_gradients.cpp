#include <string>
#include <unordered_map>
#include <unordered_set>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/update_rules.hpp>

namespace mezzo {
namespace {

constexpr std::size_t gradient_input = 1;  // index among the inputs of an update

/// Updates that treat each element for itself. Rules with norms have fast kernels for whole gradients only.
bool is_update(const detail::Node& node) {
  if (!is(node, ops::optimizer_update)) return is(node, ops::sgd_update) || is(node, ops::adam_update);
  return rule_norms(node.attributes.get<std::string>("rule")) == RuleNorms::none;
}

/// True if rows of zeros can be left out of input i.
bool takes_rows(const detail::Node& node, std::size_t i) {
  if (is_update(node)) return i == gradient_input && !node.attributes.has("compact");
  return is(node, ops::all_finite) || (is(node, ops::gradient_multiplier) && i > 0);
}

/// True if the indices of a gather_gradient select fewer rows than the table has.
bool touches_few_rows(const detail::Node& node) {
  return element_count(node.inputs[0].shape()) < node.outputs[0].shape.front();
}

/// gather_gradient nodes that touch fewer rows than the table has and are read only by optimizer updates and by checks
/// of gradients.
std::unordered_set<const detail::Node*> find_compactable(const Graph& graph) {
  std::unordered_map<const detail::Node*, int> readers;
  for (const detail::NodePtr& node : graph.nodes) {
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const detail::NodePtr& source = node->inputs[i].node();
      if (is(*source, ops::gather_gradient) && takes_rows(*node, i)) ++readers[source.get()];
    }
  }
  const Uses uses(graph);
  std::unordered_set<const detail::Node*> found;
  for (const detail::NodePtr& node : graph.nodes) {
    const auto known = readers.find(node.get());
    if (known == readers.end() || known->second != uses.of({node, 0})) continue;
    if (touches_few_rows(*node)) found.insert(node.get());
  }
  return found;
}

/// Index of the operand of `node`, an add, that is a gather_gradient of few rows without another reader; -1 if there is
/// none. Operands in half precision are excluded, because the add rounds them once more.
int few_rows_operand(const detail::Node& node, const Uses& uses) {
  const Spec& sum = node.outputs.front();
  if (!is(node, ops::add) || accumulation_dtype(sum.dtype) != sum.dtype) return -1;
  for (const int i : {1, 0}) {
    const Value& value = node.inputs[static_cast<std::size_t>(i)];
    const Value& other = node.inputs[static_cast<std::size_t>(1 - i)];
    const bool dense = Spec{other.shape(), other.dtype()} == sum && Spec{value.shape(), value.dtype()} == sum;
    if (dense && is(value, ops::gather_gradient) && touches_few_rows(*value.node()) && uses.of(value) == 1) return i;
  }
  return -1;
}

/// Adds the selected rows of a gather_gradient to another gradient of the table in place.
Graph add_few_rows(const Graph& graph) {
  const Uses uses(graph);
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    const int i = few_rows_operand(*old, uses);
    if (i < 0) return {};
    const detail::Node& rows = *node->inputs[static_cast<std::size_t>(i)].node();
    const Values inputs{node->inputs[static_cast<std::size_t>(1 - i)], rows.inputs[0], rows.inputs[1]};
    return to.add(make_node(ops::add_gather_gradient, inputs, {}, node->outputs, rows));
  });
}

}  // namespace

Graph compact_gradients(const Graph& graph) {
  const auto compactable = find_compactable(graph);
  return add_few_rows(
      rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
        if (compactable.count(old.get()) != 0) {
          const Op& op = ops::gather_gradient_rows;
          const std::vector<Spec> inputs{{node->inputs[0].shape(), node->inputs[0].dtype()},
                                         {node->inputs[1].shape(), node->inputs[1].dtype()}};
          const std::vector<Spec> outputs = op.infer({inputs, node->attributes, node->where});
          return {to.add(make_node(op, node->inputs, node->attributes, outputs, *node)).front()};
        }
        if (!is_update(*old) || compactable.count(old->inputs[gradient_input].node().get()) == 0) return {};
        Values inputs = node->inputs;
        inputs.emplace_back(inputs[gradient_input].node(), 1);
        Attributes attributes = node->attributes;
        attributes.set("compact", true);
        return to.add(make_node(*node->op, std::move(inputs), std::move(attributes), node->outputs, *node));
      }));
}

}  // namespace mezzo
