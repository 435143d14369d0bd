#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <mezzo/nn/layer_state.hpp>
#include <mezzo/onnx/import_call.hpp>

namespace mezzo::detail {

/// Runs a graph node by node, in the running layer. Nodes whose inputs are constants, or sizes, are computed at once.
class OnnxRun {
 public:
  /// Layer that a node is, and its name in the model.
  struct Place {
    Shared<LayerState> layer;
    std::string entry;
  };
  using Scopes = std::map<const OnnxNode*, Place>;

  /// `values`: those of the inputs and initializers, by place.
  OnnxRun(const OnnxGraph& graph, const Scopes& scopes, std::vector<OnnxValue> values);

  /// Runs the nodes of a body and returns its outputs.
  std::vector<OnnxValue> run(const OnnxBody& body);

 private:
  void run(const OnnxNode& node);
  std::vector<OnnxValue> run_inside(const OnnxBody& body, const std::vector<OnnxValue>& inputs, bool apart);

  const OnnxGraph& graph_;
  const Scopes& scopes_;
  std::vector<OnnxValue> values_;
  std::int64_t most_inside_, left_inside_;  // runs of nodes of bodies
};

}  // namespace mezzo::detail
