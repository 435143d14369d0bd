#include <mezzo/onnx/export_model.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <mezzo/onnx/export_layout.hpp>
#include <mezzo/onnx/export_node.hpp>

namespace mezzo::detail {
namespace {

using Weights = std::unordered_map<const VariableState*, std::string>;

class ModelWriter {
 public:
  ModelWriter(const AlignedGraphs& aligned, const Weights& weights, ExportGraph& graph)
      : aligned_(aligned), weights_(weights), graph_(graph), sizes_(graph) {}

  void set_input(const Node* node, const std::string& name) { names_[{node, 0}] = name; }

  void mark_used(const Value& value) { used_.insert({value.node().get(), value.output()}); }

  void write() {
    for (const TracedNode& node : aligned_.nodes()) {
      for (const Value& input : node.front()->inputs) mark_used(input);
    }
    for (std::size_t i = 0; i < aligned_.nodes().size(); ++i) {
      const TracedNode& node = aligned_.nodes()[i];
      graph_.set_path(node.front()->path);
      const ExportNames outputs = write_node(node);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (outputs[k].empty()) continue;
        names_[{node.front(), static_cast<int>(k)}] = outputs[k];
        if (graph_.array(outputs[k]) == nullptr) sizes_.note(outputs[k], aligned_.shape(i, static_cast<int>(k)));
      }
    }
    graph_.set_path("");
  }

  std::string name_of(const Value& value) const { return names_.at({value.node().get(), value.output()}); }

 private:
  ExportNames write_node(const TracedNode& node) {
    const Node& first = *node.front();
    const std::string& op = first.op->name;
    if (op == "input") return {names_.at({&first, 0})};
    if (op == "variable") return {first.variable->remainder ? "" : weight(*first.variable)};
    if (op == "join_master") return {weight(*first.inputs[0].node()->variable)};
    if (op == "constant") return {constant(node)};
    if (op == "runtime") {
      fail<ValueError>(
          first.where,
          "export_onnx: the outputs must not depend on the step or on random numbers; got a read of one of "
          "them");
    }
    const auto rule = export_rules().find(op);
    if (rule == export_rules().end()) {
      fail<ValueError>(first.where, "export_onnx: the op {} has no counterpart in ONNX", op);
    }
    return rule->second(exported(node));
  }

  std::string weight(const VariableState& variable) {
    const auto known = arrays_.find(&variable);
    if (known != arrays_.end()) return known->second;
    const auto found = weights_.find(&variable);
    const std::string& name = found == weights_.end() ? variable.name : found->second;
    return arrays_[&variable] = graph_.weight(name, variable.numbers());
  }

  std::string constant(const TracedNode& node) {
    const Tensor& value = node.front()->attributes.get<Tensor>("value");
    const bool fixed = std::all_of(node.begin(), node.end(),
                                   [&](const Node* one) { return one->attributes.get<Tensor>("value").equal(value); });
    return fixed ? graph_.constant(value) : export_open_constant(node, graph_, sizes_);
  }

  ExportedNode exported(const TracedNode& node) {
    const Node& first = *node.front();
    ExportedNode out{graph_, sizes_, node, {}, {}, {}, {}, [this](const Value& value) { return name_of(value); }};
    for (const Value& input : first.inputs) {
      out.inputs.push_back(name_of(input));
      out.shapes.push_back(aligned_.shape(aligned_.place_of(input.node().get()), input.output()));
    }
    for (std::size_t k = 0; k < first.outputs.size(); ++k) {
      const int output = static_cast<int>(k);
      out.results.push_back(aligned_.shape(aligned_.place_of(&first), output));
      out.used.push_back(used_.count({&first, output}) != 0);
    }
    return out;
  }

  const AlignedGraphs& aligned_;
  const Weights& weights_;
  ExportGraph& graph_;
  ExportSizes sizes_;
  std::map<std::pair<const Node*, int>, std::string> names_;
  std::set<std::pair<const Node*, int>> used_;
  std::unordered_map<const VariableState*, std::string> arrays_;
};

}  // namespace

ExportedModel export_model(const ExportTraces& traces, const std::vector<std::string>& output_names,
                           const Weights& weights, ExportGraph graph) {
  std::vector<const Graph*> graphs;
  for (const Graph& one : traces.graphs) graphs.push_back(&one);
  std::string difference;
  const AlignedGraphs aligned(graphs, difference);
  const Graph& first = traces.graphs.front();
  ExportedModel out{std::move(graph), {}, {}};
  ModelWriter writer(aligned, weights, out.graph);
  for (std::size_t i = 0; i < traces.inputs.size(); ++i) {
    const Node* node = first.inputs[i].node().get();
    const DType dtype = out.graph.written(traces.inputs[i].spec.dtype);
    out.inputs.push_back({traces.inputs[i].name, dtype, aligned.shape(aligned.place_of(node), 0)});
    out.graph.reserve(traces.inputs[i].name);
    out.graph.declare(traces.inputs[i].name, dtype);
    writer.set_input(node, traces.inputs[i].name);
  }
  for (const std::string& name : output_names) out.graph.reserve(name);
  for (const Graph::Output& output : first.outputs) writer.mark_used(output.value);
  writer.write();
  for (std::size_t i = 0; i < first.outputs.size(); ++i) {
    const Value& value = first.outputs[i].value;
    const std::string from = writer.name_of(value);
    out.graph.nodes.push_back({"Identity", {from}, {output_names[i]}});
    out.outputs.push_back(
        {output_names[i], out.graph.dtype(from), aligned.shape(aligned.place_of(value.node().get()), value.output())});
  }
  move_transposes(out.graph, output_names);
  remove_unused(out.graph, output_names);
  transpose_arrays(out.graph);
  remove_unused(out.graph, output_names);
  name_outputs(out.graph, output_names);
  return out;
}

}  // namespace mezzo::detail
