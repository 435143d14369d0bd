#include <unordered_map>
#include <unordered_set>

#include <mezzo/compiler/int8_products.hpp>
#include <mezzo/compiler/pass_attributes.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// Most products that read a master in a step. An update reads and writes 2 bytes of a copy for each weight, a product
/// reads 2 of a copy and 4 of a master.
constexpr int most_readers = 1;

using Variables = std::unordered_set<const detail::VariableState*>;

/// Readers of the compute copies of a float32 variable.
struct Copies {
  int casts = 0;     ///< readings of casts
  int products = 0;  ///< those by products that can read the variable itself
};

/// The float32 variable of which the value is a cast; null: none.
const detail::VariableState* master_of(const Value& value) {
  if (!is(value, ops::cast)) return nullptr;
  const Value& source = value.node()->inputs.front();
  return source.dtype() == DType::float32 ? source.node()->variable.get() : nullptr;
}

/// The product with the variable in place of its cast.
detail::NodePtr with_master(const detail::Node& product) {
  Values inputs = product.inputs;
  inputs[1] = product.inputs[1].node()->inputs.front();
  Attributes attributes = product.attributes;
  attributes.set(detail::rounds_right, true);
  return make_node(*product.op, std::move(inputs), std::move(attributes), product.outputs, product);
}

/// Variables that an update of this graph writes with a compute copy.
Variables updated_variables(const Graph& graph) {
  Variables updated;
  for (const detail::NodePtr& node : graph.nodes) {
    if (node->op->in_place.empty() || node->attributes.has("kept")) continue;
    updated.insert(node->inputs.front().node()->variable.get());
  }
  return updated;
}

/// True if the node is a product with a cast of one of these variables whose kernel can read the variable itself.
bool can_round(const detail::Node& node, const Variables& updated) {
  if (!is(node, ops::matmul) || detail::is_int8_product(*node.op, node.attributes)) return false;
  const detail::VariableState* const variable = master_of(node.inputs[1]);
  if (variable == nullptr || updated.count(variable) == 0 || node.inputs[1].dtype() != DType::bfloat16) return false;
  return chosen_implementation(request_of(*with_master(node))) == chosen_implementation(request_of(node));
}

}  // namespace

Graph read_masters(const Graph& graph) {
  const auto updated = updated_variables(graph);
  if (updated.empty()) return graph;
  const Uses uses(graph);
  std::unordered_map<const detail::VariableState*, Copies> copies;
  for (const detail::NodePtr& node : graph.nodes) {
    const Value value(node, 0);
    if (const auto* variable = master_of(value)) copies[variable].casts += uses.of(value);
  }
  std::unordered_map<const detail::Node*, const Copies*> able;  // products that can read a master, with its copies
  for (const detail::NodePtr& node : graph.nodes) {
    if (!can_round(*node, updated)) continue;
    Copies& all = copies.at(master_of(node->inputs[1]));
    ++all.products;
    able[node.get()] = &all;
  }
  if (able.empty()) return graph;
  return simplify(rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    const auto found = able.find(old.get());
    if (found == able.end()) return {};
    const Copies& all = *found->second;
    return all.products == all.casts && all.products <= most_readers ? to.add(with_master(*node)) : Values{};
  }));
}

}  // namespace mezzo
