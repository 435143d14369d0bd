#include <mezzo/training/loggers/graph_def.hpp>

#include <map>
#include <set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/module/inference_graph.hpp>

// Numbers of fields are those of tensorflow/core/framework/{graph,node_def,attr_value,tensor_shape,versions}.proto.
namespace mezzo::detail {
namespace {

/// Shapes of the module's inputs, with a batch of 1 if its size is open; empty if they are unknown.
std::vector<Spec> batch_of_one(std::vector<Spec> specs) {
  for (Spec& spec : specs) {
    if (!spec.shape.empty() && spec.shape[0] < 0) spec.shape[0] = 1;
    for (const std::int64_t size : spec.shape) {
      if (size < 0) return {};
    }
  }
  return specs;
}

ProtoMessage shape_proto(const Shape& shape) {
  ProtoMessage out;
  for (const std::int64_t size : shape) out.message(2, ProtoMessage().integer(1, size));  // dim: size
  return out;
}

/// Adds an attribute to a NodeDef.
void add_attribute(ProtoMessage& node, const char* name, const ProtoMessage& value) {
  node.message(5, ProtoMessage().text(1, name).message(2, value));
}

class GraphWriter {
 public:
  explicit GraphWriter(const Module& module) {
    for (const WeightPolicy& weight : weight_policies(module, {})) weights_[weight.variable.id()] = weight.path;
  }

  void add(const Graph& graph) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      names_[graph.inputs[i].node().get()] = unique(fmt::format("input_{}", i + 1));
    }
    for (const NodePtr& node : graph.nodes) add(*node);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      ProtoMessage out;
      out.text(1, unique(fmt::format("output_{}", i + 1))).text(2, "output").text(3, operand(graph.outputs[i].value));
      graph_.message(1, out);
    }
  }

  /// A node for each layer without sub-layers.
  void add_layers(const LayerState& state, const std::string& path) {
    for (const auto& [name, child] : state.children) {
      const std::string below = path.empty() ? name : path + "/" + name;
      if (child->children.empty()) graph_.message(1, ProtoMessage().text(1, unique(below)).text(2, child->kind));
      add_layers(*child, below);
    }
  }

  ProtoMessage finish() {
    constexpr int producer = 22;
    return graph_.message(4, ProtoMessage().integer(1, producer));  // versions
  }

 private:
  /// Path of a weight; otherwise the op, in its layer.
  std::string name_of(const Node& node) const {
    const auto weight = weights_.find(node.variable.get());
    if (weight != weights_.end()) return weight->second;
    const std::string name = node.variable ? node.variable->name : node.op->name;
    return node.path.empty() ? name : node.path + "/" + name;
  }

  std::string unique(const std::string& name) {
    std::string candidate = name;
    for (int i = 1; !used_.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", name, i);
    return candidate;
  }

  /// Input of a NodeDef: "node", or "node:1" for its second output. A leaf that the trace didn't list is added first.
  std::string operand(const Value& value) {
    if (names_.count(value.node().get()) == 0) add(*value.node());
    const std::string& name = names_.at(value.node().get());
    return value.output() == 0 ? name : fmt::format("{}:{}", name, value.output());
  }

  void add(const Node& node) {
    if (!written_.insert(&node).second) return;
    auto& name = names_[&node];
    if (name.empty()) name = unique(name_of(node));
    ProtoMessage out;
    out.text(1, name).text(2, node.op->name);
    for (const Value& input : node.inputs) {
      if (input.node()) out.text(3, operand(input));
    }
    ProtoMessage shapes;
    for (const Spec& spec : node.outputs) shapes.message(7, shape_proto(spec.shape));
    add_attribute(out, "_output_shapes", ProtoMessage().message(1, shapes));  // list of shapes
    if (!node.outputs.empty()) {
      add_attribute(out, "dtype", ProtoMessage().text(2, dtype_name(node.outputs.front().dtype)));
    }
    graph_.message(1, out);
  }

  ProtoMessage graph_;
  std::map<const void*, std::string> weights_;  // paths by Variable::id()
  std::map<const Node*, std::string> names_;
  std::set<const Node*> written_;
  std::set<std::string> used_;
};

}  // namespace

ProtoMessage graph_def(Module& module) {
  GraphWriter writer(module);
  const std::vector<Spec> specs = batch_of_one(input_specs(*module.state()));
  if (specs.empty()) {
    writer.add_layers(*module.state(), "");
    return writer.finish();
  }
  writer.add(inference_graph(module, specs));
  return writer.finish();
}

}  // namespace mezzo::detail
