#include <mezzo/training/predictor/replayed_step.hpp>

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <utility>

#include <mezzo/core/error.hpp>
#include <mezzo/graph/node.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/nn/functional.hpp>
#include <mezzo/training/module/traced_step.hpp>

namespace mezzo::detail {
namespace {

/// The ops of a predict step.
class ReplayedStep : public Module {
 public:
  ReplayedStep(const Values& inputs, const Values& outputs) : Module("Predictor"), graph_(inputs, outputs, *state()) {}

  Value predict_step(const Batch& batch) override {
    return first_output(graph_.insert(batch.with_role(Role::input)), label());
  }

 private:
  FunctionalGraph graph_;
};

std::vector<Spec> with_rows(std::vector<Spec> inputs, std::int64_t rows) {
  for (Spec& spec : inputs) spec.shape.front() = rows;
  return inputs;
}

/// The ops of a graph and their operands, as text.
std::string text_of(const Graph& graph) {
  std::unordered_map<const Node*, std::size_t> places;
  std::string text;
  const auto name = [&](const Value& value) {
    const auto found = places.find(value.node().get());
    return fmt::format(" {}.{}", found == places.end() ? -1 : static_cast<std::ptrdiff_t>(found->second),
                       value.output());
  };
  for (const NodePtr& node : graph.nodes) {
    places.emplace(node.get(), places.size());
    text += node->op->name;
    if (node->op->infer != nullptr) text += node->attributes.to_string();
    if (node->variable) text += node->variable->name;
    for (const Value& input : node->inputs) text += name(input);
    for (const Spec& output : node->outputs) text += " " + to_string(output);
    text += '\n';
  }
  for (const Graph::Output& output : graph.outputs) text += name(output.value);
  return text;
}

}  // namespace

std::shared_ptr<Module> replayed_step(Module& module, const PredictSetting& setting, const std::vector<Spec>& inputs) {
  if (inputs.empty() || setting.policy.map() != nullptr) return nullptr;  // a map's paths are those of the module
  try {
    Values symbols;
    for (const Spec& spec : with_rows(inputs, -1)) {
      auto node = std::make_shared<Node>();
      node->op = &input_op();
      node->where = "[Predictor]";
      node->outputs = {spec};
      symbols.emplace_back(std::move(node), 0);
    }
    ReplayedStep replayed(symbols, call_predict_step(module, setting, symbols, 0));
    auto copy = std::make_shared<ReplayedStep>(clone(replayed));
    for (const std::int64_t rows : {1, 2, 7}) {
      const std::vector<Spec> specs = with_rows(inputs, rows);
      const std::string original = text_of(trace_predict_step(module, setting, specs));
      if (original != text_of(trace_predict_step(*copy, setting, specs))) return nullptr;
    }
    return copy;
  } catch (const Error&) {
    return nullptr;  // the layers need the number of rows
  }
}

}  // namespace mezzo::detail
