#include <mezzo/nn/coded_slots.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {

bool only_looked_up(const std::shared_ptr<VariableState>& variable) {
  Trace* const trace = Trace::current();
  if (trace == nullptr) return false;
  std::set<std::pair<const Node*, int>> reads;
  for (const Value& value : trace->reads(variable).values) reads.emplace(value.node().get(), value.output());
  bool gathers = false;
  for (const NodePtr& node : trace->graph().nodes) {
    if (!node->op->in_place.empty()) continue;  // updates
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      if (reads.count({node->inputs[i].node().get(), node->inputs[i].output()}) == 0) continue;
      if (is(*node, ops::cast)) {
        reads.emplace(node.get(), 0);
      } else if (is(*node, ops::gather) && i == 0) {
        gathers = true;
      } else {
        return false;
      }
    }
  }
  return gathers;
}

DType code_dtype(const std::string& slot) {
  constexpr std::array<std::string_view, 5> positive{"velocity", "velocity_hat", "norm", "accumulated_grad",
                                                     "accumulated_delta_var"};
  return std::find(positive.begin(), positive.end(), slot) != positive.end() ? DType::uint8 : DType::int8;
}

}  // namespace mezzo::detail
