#include <mezzo/onnx/export_model.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <mezzo/graph/quantization.hpp>
#include <mezzo/onnx/export_layout.hpp>
#include <mezzo/onnx/export_node.hpp>
#include <mezzo/ops/scan_body.hpp>

namespace mezzo::detail {
namespace {

/// Arrays of variables: names in weight files, and in the graph once they are written.
struct WrittenWeights {
  const std::unordered_map<const VariableState*, std::string>& names;
  std::unordered_map<const VariableState*, std::string> arrays{};
};

class ModelWriter {
 public:
  ModelWriter(const AlignedGraphs& aligned, WrittenWeights& weights, ExportGraph& graph, ExportSizes sizes)
      : aligned_(aligned), weights_(weights), graph_(graph), sizes_(std::move(sizes)) {}

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
    if (op == "scan") return scan(node);
    const auto rule = export_rules().find(op);
    if (rule == export_rules().end()) {
      fail<ValueError>(first.where, "export_onnx: the op {} has no counterpart in ONNX", op);
    }
    return rule->second(exported(node));
  }

  std::string weight(const VariableState& variable) {
    const auto known = weights_.arrays.find(&variable);
    if (known != weights_.arrays.end()) return known->second;
    const auto found = weights_.names.find(&variable);
    const std::string& name = found == weights_.names.end() ? variable.name : found->second;
    Tensor numbers = variable.numbers();
    const bool int4 = variable.quantization != nullptr && variable.quantization->packed();
    if (int4) {
      const MatrixSizes matrix = variable.quantization->matrix();
      numbers = numbers.reshape({matrix.rows, matrix.columns});
    }
    const std::string& array = weights_.arrays[&variable] = graph_.weight(name, numbers);
    if (int4) graph_.mark_int4(array);
    return array;
  }

  /// A loop with a body of the program, as a Scan. The body reads captured values by their names outside.
  ExportNames scan(const TracedNode& node) {
    std::vector<ScanLayout> layouts;
    std::vector<const Graph*> graphs;
    for (const Node* one : node) layouts.emplace_back(one->attributes);
    for (const ScanLayout& layout : layouts) graphs.push_back(&layout.body->graph);
    const ScanLayout& layout = layouts.front();
    std::string difference;
    const AlignedGraphs aligned(graphs, difference);
    const ExportedNode outer = exported(node);
    if (!difference.empty()) outer.refuse("steps that differ by the size of the inputs");
    if (layout.saves) outer.refuse("the states before each step");
    if (layout.sequences == 0) outer.refuse("no array to read");
    auto body = std::make_shared<ExportBody>();
    graph_.start_body();
    ModelWriter inner(aligned, weights_, graph_, sizes_);
    const Graph& steps = *graphs.front();
    for (std::size_t i = 0; i < steps.inputs.size(); ++i) {
      const Value& input = steps.inputs[i];
      if (i >= layout.carries + layout.sequences) {
        inner.set_input(input.node().get(), outer.in(i));
        continue;
      }
      body->inputs.push_back({graph_.unique("step_input"), graph_.written(input.dtype()), input.shape().size()});
      graph_.declare(body->inputs.back().name, body->inputs.back().dtype);
      inner.set_input(input.node().get(), body->inputs.back().name);
    }
    for (const Graph::Output& output : steps.outputs) inner.mark_used(output.value);
    inner.write();
    std::vector<DType> dtypes;
    for (const Graph::Output& output : steps.outputs) {
      dtypes.push_back(graph_.written(output.value.dtype()));
      const std::string name = graph_.add("Identity", {inner.name_of(output.value)});
      body->outputs.push_back({name, dtypes.back(), output.value.shape().size()});
    }
    body->nodes = graph_.finish_body();
    graph_.set_path(outer.node().path);
    const std::size_t outputs = steps.outputs.size() - layout.carries;
    ExportAttributes attributes{{"body", std::shared_ptr<const ExportBody>(body)},
                                {"num_scan_inputs", static_cast<std::int64_t>(layout.sequences)}};
    if (layout.reverse) {
      attributes.emplace_back("scan_input_directions", Shape(layout.sequences, 1));
      if (outputs > 0) attributes.emplace_back("scan_output_directions", Shape(outputs, 1));
    }
    const auto operands = static_cast<std::ptrdiff_t>(layout.carries + layout.sequences);
    return graph_.add_many("Scan", {outer.inputs.begin(), outer.inputs.begin() + operands}, attributes, dtypes);
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
  WrittenWeights& weights_;
  ExportGraph& graph_;
  ExportSizes sizes_;
  std::map<std::pair<const Node*, int>, std::string> names_;
  std::set<std::pair<const Node*, int>> used_;
};

}  // namespace

ExportedModel export_model(const ExportTraces& traces, const std::vector<std::string>& output_names,
                           const std::unordered_map<const VariableState*, std::string>& weights, ExportGraph graph) {
  std::vector<const Graph*> graphs;
  for (const Graph& one : traces.graphs) graphs.push_back(&one);
  std::string difference;
  const AlignedGraphs aligned(graphs, difference);
  const Graph& first = traces.graphs.front();
  ExportedModel out{std::move(graph), {}, {}};
  WrittenWeights written{weights};
  ModelWriter writer(aligned, written, out.graph, ExportSizes(out.graph));
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
  join_biases(out.graph, output_names);
  remove_unused(out.graph, output_names);
  name_outputs(out.graph, output_names);
  return out;
}

}  // namespace mezzo::detail
