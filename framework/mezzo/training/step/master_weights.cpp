#include <mezzo/training/step/master_weights.hpp>

#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {

std::set<const VariableState*> copied_to_bfloat16(const Graph& step, const PipelineOptions& passes) {
  std::set<const VariableState*> out;
  const auto float32 = [](const VariableState* variable) {
    return variable != nullptr && variable->dtype() == DType::float32;
  };
  const Graph simple = simplify(step);
  for (const Node* const gather : gathers_cast_to_bfloat16(simple)) {
    const VariableState* const table = gather->inputs.front().node()->variable.get();
    if (float32(table)) out.insert(table);
  }
  for (const NodePtr& node : run_passes(step, passes).nodes) {
    for (const Value& input : node->inputs) {
      const VariableState* const variable = input.node()->variable.get();
      if (!float32(variable)) continue;
      const bool copies = is(*node, ops::cast) && node->outputs.front().dtype == DType::bfloat16;
      if (copies || (variable->remainder && !is(*node, ops::join_master))) out.insert(variable);
    }
  }
  return out;
}

std::set<const VariableState*> read_by(const Graph& graph) {
  std::set<const VariableState*> out;
  for (const NodePtr& node : graph.nodes) {
    if (node->variable) out.insert(node->variable.get());
  }
  return out;
}

}  // namespace mezzo::detail
