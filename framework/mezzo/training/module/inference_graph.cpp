#include <mezzo/training/module/inference_graph.hpp>

#include <any>
#include <utility>

#include <mezzo/graph/quiet_casts.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/ops/basic_ops.hpp>
#include <mezzo/training/module/kept_calls.hpp>

namespace mezzo::detail {
std::vector<Spec> input_specs(const LayerState& state) {
  if (const auto* layout = std::any_cast<GraphLayout>(&state.content)) return layout->inputs;
  const auto* sequence = std::any_cast<SequenceLayout>(&state.content);
  if (sequence != nullptr && sequence->input) return {*sequence->input};
  return state.built_for;
}

Graph inference_graph(Module& module, const std::vector<Spec>& inputs) {
  const KeptCalls kept(*module.state());
  const QuietCasts quiet;
  Trace trace(Trace::Mode::graph);
  Values symbols;
  for (const Spec& spec : inputs) symbols.push_back(trace.input("", spec));
  const RootScope root(module);
  for (const Value& output : module(symbols)) {
    const DType dtype = is_floating(output.dtype()) ? accumulation_dtype(output.dtype()) : output.dtype();
    trace.output("", trace.adopt(cast(output, dtype)));
  }
  return std::move(trace.graph());
}

std::unordered_map<const VariableState*, std::string> weight_file_names(const Module& module) {
  std::unordered_map<const VariableState*, std::string> names;
  for (const FileWeight& weight : file_weights(*module.state()).weights) {
    names.emplace(weight.variable.state().get(), weight.name());
  }
  return names;
}

}  // namespace mezzo::detail
