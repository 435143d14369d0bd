#include <mezzo/onnx/export_onnx.hpp>

#include <algorithm>
#include <any>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/onnx/export_message.hpp>
#include <mezzo/onnx/export_model.hpp>
#include <mezzo/onnx/export_node.hpp>
#include <mezzo/onnx/export_traces.hpp>
#include <mezzo/onnx/import_model.hpp>
#include <mezzo/training/model/model.hpp>
#include <mezzo/training/module/inference_graph.hpp>
#include <mezzo/training/step/run_scopes.hpp>

namespace mezzo {
namespace {

constexpr int least_export_opset = 17, last_export_opset = 22;

/// Number of samples; -1: open.
std::int64_t batch_of(const ExportOnnxOptions& options, const std::string& where) {
  if (const auto* text = std::get_if<std::string>(&options.batch)) {
    if (*text != "dynamic") fail<ValueError>(where, "batch must be \"dynamic\" or a number; got \"{}\"", *text);
    return -1;
  }
  const std::int64_t batch = std::get<std::int64_t>(options.batch);
  if (batch < 1) fail<ValueError>(where, "batch must be at least 1; got {}", batch);
  return batch;
}

void check(const ExportOnnxOptions& options, const std::string& where) {
  if (options.opset < least_export_opset || options.opset > last_export_opset) {
    fail<ValueError>(where, "opset must be {} to {}; got {}", least_export_opset, last_export_opset, options.opset);
  }
  if (!options.precision.empty() && options.precision != "float32") {
    fail<ValueError>(where, "precision must be \"\" (that of the model) or \"float32\"; got \"{}\"", options.precision);
  }
}

/// Names with "input" or "input_2" for missing ones; equal ones get numbers.
std::vector<std::string> complete(std::vector<std::string> names, std::size_t count, const char* otherwise) {
  names.resize(count);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = names[i];
    if (name.empty()) name = count == 1 ? otherwise : fmt::format("{}_{}", otherwise, i + 1);
    const std::string stem = name;
    for (int k = 1; std::find(out.begin(), out.end(), name) != out.end(); ++k) name = fmt::format("{}_{}", stem, k);
    out.push_back(std::move(name));
  }
  return out;
}

/// Names of the model's inputs or outputs; none for models without names.
template <class Read>
std::vector<std::string> names_of(Module& module, Read read) {
  const Model* model = module.as_model();
  if (model == nullptr) return {};
  try {
    return read(*model);
  } catch (const ValueError&) {
    return {};
  }
}

/// Inputs of a graph that was read from a file, with its names of open sizes; nothing if their shapes are not given.
std::vector<detail::ExportInput> inputs_of_file(const detail::OnnxGraph& graph, std::int64_t batch) {
  std::vector<detail::ExportInput> out;
  std::string symbol;  // of the batch
  for (const detail::OnnxGraph::Input& input : graph.inputs) {
    if (!input.shape || !input.dtype) return {};
    out.push_back({input.name, {*input.shape, *input.dtype}, input.symbols});
    if (symbol.empty() && !input.shape->empty() && input.shape->front() < 0) symbol = input.symbols.front();
  }
  for (detail::ExportInput& input : out) {
    for (std::size_t axis = 0; batch >= 0 && axis < input.symbols.size(); ++axis) {
      const bool samples = symbol.empty() ? axis == 0 : input.symbols[axis] == symbol;
      if (!samples || input.spec.shape[axis] >= 0) continue;
      input.spec.shape[axis] = batch;
      input.symbols[axis].clear();
    }
  }
  return out;
}

std::vector<detail::ExportInput> inputs_of(Module& module, std::int64_t batch, const std::string& where) {
  if (const auto* const loaded = dynamic_cast<const detail::OnnxModel*>(module.as_model())) {
    std::vector<detail::ExportInput> inputs = inputs_of_file(loaded->graph(), batch);
    if (!inputs.empty()) return inputs;
  }
  std::vector<Spec> specs = detail::input_specs(*module.state());
  if (specs.empty()) {
    fail<ValueError>(where, "the model must be built, by Inputs or a first call; got one of unknown input shapes");
  }
  const auto* sequence = std::any_cast<detail::SequenceLayout>(&module.state()->content);
  const bool from_call = std::any_cast<detail::GraphLayout>(&module.state()->content) == nullptr &&
                         (sequence == nullptr || !sequence->input);
  std::vector<std::string> names = names_of(module, [](const Model& model) { return model.input_names(); });
  if (sequence != nullptr && sequence->input) names = {sequence->input_name};
  names = complete(std::move(names), specs.size(), "input");
  std::vector<detail::ExportInput> out;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Shape& shape = specs[i].shape;
    if (!shape.empty() && (from_call || shape[0] < 0)) shape[0] = batch;
    out.push_back({names[i], specs[i]});
  }
  return out;
}

/// Opens the axes of the option dynamic_axes.
void open_axes(std::vector<detail::ExportInput>& inputs, const ExportOnnxOptions& options, const std::string& where) {
  std::vector<std::string> names;
  for (const detail::ExportInput& input : inputs) names.push_back(input.name);
  for (const auto& [name, axes] : options.dynamic_axes) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) fail_unknown(where, "input in dynamic_axes", name, names);
    detail::ExportInput& input = inputs[static_cast<std::size_t>(found - names.begin())];
    const auto rank = static_cast<int>(input.spec.shape.size());
    input.symbols.resize(input.spec.shape.size());
    if (axes.count(0) == 0 && rank > 0 && input.spec.shape[0] < 0 && input.symbols[0].empty())
      input.symbols[0] = "batch";
    for (const auto& [axis, symbol] : axes) {
      if (axis < 0 || axis >= rank) {
        fail<ValueError>(where, "an axis of \"{}\" in dynamic_axes must be 0 to {}; got {}", name, rank - 1, axis);
      }
      if (symbol.empty()) fail<ValueError>(where, "axis {} of \"{}\" in dynamic_axes needs a name", axis, name);
      if (const auto* const batch = std::get_if<std::int64_t>(&options.batch); axis == 0 && batch != nullptr) {
        fail<ValueError>(where,
                         "axis 0 of \"{}\" must be either fixed by batch or open by dynamic_axes; got {} and \"{}\"",
                         name, *batch, symbol);
      }
      input.spec.shape[static_cast<std::size_t>(axis)] = -1;
      input.symbols[static_cast<std::size_t>(axis)] = symbol;
    }
  }
}

/// Names of open sizes, by their numbers in the traces.
std::map<detail::TracedNumber, std::string> symbols_of(const detail::ExportTraces& traces,
                                                       const detail::ExportedModel& model) {
  std::map<detail::TracedNumber, std::string> out;
  for (std::size_t i = 0; i < traces.inputs.size(); ++i) {
    for (std::size_t axis = 0; axis < traces.inputs[i].symbols.size(); ++axis) {
      const std::string& symbol = traces.inputs[i].symbols[axis];
      if (!symbol.empty()) out[model.inputs[i].shape[axis]] = symbol;
    }
  }
  return out;
}

}  // namespace

void export_onnx(Module& model, const std::string& path, const ExportOnnxOptions& options) {
  const std::string where = fmt::format("[export_onnx \"{}\"]", path);
  check(options, where);
  detail::check_suffix(path, detail::FileKind::onnx, where, ".onnx, or have a suffix of its own");
  const detail::RunningScope running(model, false);
  std::vector<detail::ExportInput> inputs = inputs_of(model, batch_of(options, where), where);
  open_axes(inputs, options, where);
  detail::ExportTraces traces = detail::trace_for_export(model, inputs, where);
  if (detail::has_tables(traces)) detail::add_long_trace(model, traces);
  std::vector<std::string> outputs = names_of(model, [](const Model& named) { return named.output_names(); });
  outputs = complete(std::move(outputs), traces.graphs.front().outputs.size(), "output");
  for (std::string& output : outputs) {
    const auto taken = [&](const detail::ExportInput& input) { return input.name == output; };
    while (std::any_of(traces.inputs.begin(), traces.inputs.end(), taken)) output += "_output";
  }
  detail::ExportGraph graph(options.opset, options.precision == "float32");
  const detail::ExportedModel exported =
      detail::export_model(traces, outputs, detail::weight_file_names(model), std::move(graph));
  const std::string& name = model.name().empty() ? model.state()->kind : model.name();
  detail::write_exported(exported, symbols_of(traces, exported), {.graph_name = name, .metadata = options.metadata},
                         path, where);
}

}  // namespace mezzo
