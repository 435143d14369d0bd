#include <mezzo/onnx/import_read.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include <mezzo/core/fail.hpp>
#include <mezzo/onnx/import_nodes.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_tensors.hpp>

namespace mezzo::detail {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

constexpr std::int64_t first_opset = 1, last_opset = 22;
constexpr int most_ports = 4096;
constexpr int most_nested = 8;  // bodies inside of bodies

std::string node_label(const NodeProto& node, const std::string& where) {
  return fmt::format("{} node \"{}\" ({})", where, onnx_node_name(node), node.op_type());
}

std::int64_t opset_of(const ::onnx::ModelProto& model, const std::string& where) {
  std::int64_t opset = 0;
  for (const auto& entry : model.opset_import()) {
    if (!entry.domain().empty() && entry.domain() != "ai.onnx") continue;
    if (opset != 0) fail<FileError>(where, "the opset of the default domain must be given once; got it twice");
    opset = entry.version();
  }
  if (opset == 0)
    fail<FileError>(where, "the file must use the operators of ONNX's default domain; it has others alone");
  if (opset < first_opset || opset > last_opset) {
    fail<FileError>(where, "opset of the default domain must be from {} to {}; got {}", first_opset, last_opset, opset);
  }
  return opset;
}

/// Reads one message.
class GraphReader {
 public:
  GraphReader(const std::string& folder, bool saved, std::string where)
      : folder_(folder), saved_(saved), where_(std::move(where)) {}

  OnnxGraph read(const ::onnx::ModelProto& model) {
    graph_.opset = opset_of(model, where_);
    const GraphProto& graph = model.graph();
    scopes_.emplace_back();
    read_initializers(graph);
    if (graph.output().size() > most_ports || graph.input().size() > graph.initializer().size() + most_ports) {
      fail<FileError>(where_, "the graph must have at most {} inputs and outputs; got {} and {}", most_ports,
                      graph.input().size(), graph.output().size());
    }
    for (const auto& input : graph.input()) read_input(input);
    for (const auto& output : graph.output()) {
      if (std::count(graph_.output_names.begin(), graph_.output_names.end(), output.name()) > 0) {
        fail<FileError>(where_, "names of outputs must differ; got \"{}\" twice", output.name());
      }
      graph_.output_names.push_back(output.name());
    }
    if (graph_.output_names.empty()) fail<FileError>(where_, "the graph must have outputs; got none");
    graph_.body = read_body(graph);
    return std::move(graph_);
  }

 private:
  std::size_t define(const std::string& name, const std::string& label) {
    if (name.empty()) fail<FileError>(label, "names of values must not be empty; got \"\"");
    if (!scopes_.back().emplace(name, graph_.values.size()).second) {
      fail<FileError>(label, "names of values must differ; got \"{}\" twice", name);
    }
    graph_.values.push_back(name);
    return graph_.values.size() - 1;
  }

  const std::size_t* find(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found != scope->end()) return &found->second;
    }
    return nullptr;
  }

  void read_initializers(const GraphProto& graph) {
    if (graph.sparse_initializer_size() > 0) {
      fail<FileError>(where_, "initializers must not be sparse; got {} sparse ones", graph.sparse_initializer_size());
    }
    for (const auto& tensor : graph.initializer()) {
      const std::string label = fmt::format("{} initializer \"{}\"", where_, tensor.name());
      OnnxGraph::Initializer one{.name = tensor.name(), .place = define(tensor.name(), label)};
      one.shape = onnx_shape(tensor, where_);
      if (!saved_ || has_onnx_numbers(tensor)) one.numbers = read_onnx_tensor(tensor, folder_, where_);
      const auto dtype = onnx_array_dtype(tensor.data_type());
      if (!dtype) fail<FileError>(label, "mezzo has no dtype {}", onnx_dtype_name(tensor.data_type()));
      one.dtype = *dtype;
      one.in_graph = scopes_.size() == 1;
      graph_.initializers.push_back(std::move(one));
    }
  }

  void read_input(const ::onnx::ValueInfoProto& info) {
    if (find(info.name()) != nullptr) {  // an initializer: its default
      const bool twice = std::any_of(graph_.inputs.begin(), graph_.inputs.end(),
                                     [&](const OnnxGraph::Input& input) { return input.name == info.name(); });
      if (!twice) return;
    }
    const std::string label = fmt::format("{} input \"{}\"", where_, info.name());
    OnnxGraph::Input input{.name = info.name(), .place = define(info.name(), label)};
    if (info.has_type() && !info.type().has_tensor_type()) {
      fail<FileError>(label, "must be a tensor; got a sequence, a map or an optional value");
    }
    const auto& type = info.type().tensor_type();
    if (type.elem_type() != ::onnx::TensorProto::UNDEFINED) {
      input.dtype = onnx_dtype(type.elem_type());
      if (!input.dtype) fail<FileError>(label, "mezzo has no dtype {}", onnx_dtype_name(type.elem_type()));
    }
    if (type.has_shape()) {
      input.shape.emplace();
      for (const auto& size : type.shape().dim()) {
        input.shape->push_back(size.has_dim_value() && size.dim_value() >= 0 ? size.dim_value() : -1);
        // "?": unknown, as PaddlePaddle writes
        input.symbols.push_back(size.dim_param() == "?" ? "" : size.dim_param());
      }
    }
    graph_.inputs.push_back(std::move(input));
  }

  OnnxBody read_body(const GraphProto& graph) {
    if (++depth_ > most_nested)
      fail<FileError>(where_, "branches and loops must not be nested deeper than {}", most_nested);
    const std::vector<bool> needed = needed_onnx_nodes(graph);
    OnnxNames later;
    for (const NodeProto& node : graph.node()) later.insert(node.output().begin(), node.output().end());
    OnnxBody body;
    for (int i = 0; i < graph.node_size(); ++i) {
      const NodeProto& node = graph.node(i);
      if (needed[static_cast<std::size_t>(i)]) {
        body.nodes.push_back(read_node(node, later));
      } else {
        for (const std::string& name : node.output()) {
          if (!name.empty()) define(name, node_label(node, where_));  // checks the names
        }
      }
    }
    for (const auto& output : graph.output()) {
      const std::size_t* place = find(output.name());
      if (place == nullptr)
        fail<FileError>(where_, "output \"{}\" must be made by a node; none makes it", output.name());
      body.outputs.push_back(*place);
    }
    --depth_;
    leave_out_unread(body);
    return body;
  }

  /// Marks outputs that nothing reads as absent: statistics of a BatchNormalization, say.
  static void leave_out_unread(OnnxBody& body) {
    std::set<std::size_t> read(body.outputs.begin(), body.outputs.end());
    for_each_onnx_node(body, [&](const OnnxNode& node) { read.insert(node.inputs.begin(), node.inputs.end()); });
    for_each_onnx_body(body,
                       [&](const OnnxBody& branch) { read.insert(branch.outputs.begin(), branch.outputs.end()); });
    for (OnnxNode& node : body.nodes) {
      for (std::size_t& output : node.outputs) {
        if (read.count(output) == 0) output = OnnxNode::absent;
      }
    }
  }

  OnnxNode read_node(const NodeProto& node, const OnnxNames& later) {
    const std::string label = node_label(node, where_);
    OnnxNode out{.name = onnx_node_name(node), .op = node.op_type()};
    if (!node.domain().empty() && node.domain() != "ai.onnx") {
      fail<FileError>(label, "the operator must be of ONNX's default domain; got domain \"{}\"", node.domain());
    }
    out.function = find_onnx_operator(node.op_type());
    if (out.function == nullptr) fail<FileError>(label, "the operator isn't supported");
    for (const std::string& name : node.input()) out.inputs.push_back(input_place(name, later, label));
    while (!out.inputs.empty() && out.inputs.back() == OnnxNode::absent) out.inputs.pop_back();
    check_count(out, *out.function, node.output_size(), label);
    for (const AttributeProto& attribute : node.attribute()) {
      if (!has_onnx_attribute(node.op_type(), attribute.name())) {
        fail<FileError>(label, "attribute \"{}\" isn't supported", attribute.name());
      }
      const bool added = out.attributes.emplace(attribute.name(), read_attribute(attribute, node, label)).second;
      if (!added) fail<FileError>(label, "attribute \"{}\" must be given once; got it twice", attribute.name());
    }
    for (const std::string& name : node.output()) {
      out.outputs.push_back(name.empty() ? OnnxNode::absent : define(name, label));
    }
    return out;
  }

  std::size_t input_place(const std::string& name, const OnnxNames& later, const std::string& label) const {
    if (name.empty()) return OnnxNode::absent;
    if (const std::size_t* place = find(name)) return *place;
    if (later.count(name) > 0) {
      fail<FileError>(label,
                      "input \"{}\" must come from an earlier node; got one from this or a later node (a cycle, or "
                      "nodes in a wrong order)",
                      name);
    }
    fail<FileError>(
        label, "input \"{}\" must be an input of the graph, an initializer or made by a node; it is missing", name);
  }

  static void check_count(const OnnxNode& node, const OnnxOperator& function, int outputs, const std::string& label) {
    const std::size_t count = node.inputs.size();
    if (count < function.least || count > function.most) {
      fail<FileError>(label, "number of inputs must be from {} to {}; got {}", function.least,
                      function.most == OnnxOperator::any ? "any" : fmt::format("{}", function.most), count);
    }
    if (outputs < 1 || static_cast<std::size_t>(outputs) > function.outputs) {
      fail<FileError>(label, "number of outputs must be from 1 to {}; got {}", function.outputs, outputs);
    }
  }

  OnnxAttribute read_attribute(const AttributeProto& attribute, const NodeProto& node, const std::string& label) {
    if (!attribute.ref_attr_name().empty()) {
      fail<FileError>(label, "attribute \"{}\" must have a value; got a reference", attribute.name());
    }
    switch (attribute.type()) {
      case AttributeProto::INT:
        return std::int64_t{attribute.i()};
      case AttributeProto::FLOAT:
        return static_cast<double>(attribute.f());
      case AttributeProto::STRING:
        return attribute.s();
      case AttributeProto::INTS:
        return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
      case AttributeProto::FLOATS:
        return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
      case AttributeProto::STRINGS:
        return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
      case AttributeProto::TENSOR:
        return read_onnx_tensor(attribute.t(), folder_, label);
      case AttributeProto::GRAPH:
        return read_inner_body(attribute.g(), node.op_type() == "If", label);
      default:
        fail<FileError>(label, "attribute \"{}\" has a type that isn't supported", attribute.name());
    }
  }

  /// Body of a loop, or a branch, which has no inputs.
  std::shared_ptr<const OnnxBody> read_inner_body(const GraphProto& graph, bool branch, const std::string& label) {
    if (branch && graph.input_size() > 0) {
      fail<FileError>(label, "a branch must have no inputs; got {}", graph.input_size());
    }
    scopes_.emplace_back();
    std::vector<std::size_t> inputs;
    for (const auto& input : graph.input()) inputs.push_back(define(input.name(), label));
    read_initializers(graph);
    auto body = std::make_shared<OnnxBody>(read_body(graph));
    body->inputs = std::move(inputs);
    scopes_.pop_back();
    return body;
  }

  const std::string& folder_;
  bool saved_;
  std::string where_;
  OnnxGraph graph_;
  std::vector<std::unordered_map<std::string, std::size_t>> scopes_;
  int depth_ = 0;
};

}  // namespace

OnnxGraph read_onnx_graph(const ::onnx::ModelProto& model, const std::string& folder, bool saved,
                          const std::string& where) {
  return GraphReader(folder, saved, where).read(model);
}

}  // namespace mezzo::detail
