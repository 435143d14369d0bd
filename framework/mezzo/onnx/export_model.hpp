#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include <mezzo/onnx/export_graph.hpp>
#include <mezzo/onnx/export_traces.hpp>

namespace mezzo::detail {

/// A finished ONNX graph.
struct ExportedModel {
  struct Port {
    std::string name;
    DType dtype = DType::float32;
    TracedShape shape;
  };
  ExportGraph graph;
  std::vector<Port> inputs, outputs;
};

/// Writes the traced graph with ONNX's operators. `weights`: names of variables. Throws a ValueError for an op without
/// a counterpart.
ExportedModel export_model(const ExportTraces& traces, const std::vector<std::string>& output_names,
                           const std::unordered_map<const VariableState*, std::string>& weights, ExportGraph graph);

}  // namespace mezzo::detail
