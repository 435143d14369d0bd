#include <mezzo/onnx/import_message.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include <mezzo/core/base64.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/onnx/import_tensors.hpp>

namespace mezzo::detail {
namespace {

constexpr std::int64_t most_copied = std::int64_t{1} << 22;  // elements of copies

void clear_numbers(::onnx::TensorProto& tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

}  // namespace

std::set<std::string> move_onnx_constants(::onnx::ModelProto& model) {
  std::set<std::string> moved;
  ::onnx::GraphProto& graph = *model.mutable_graph();
  int kept = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    ::onnx::NodeProto& node = *graph.mutable_node(i);
    const bool array = node.op_type() == "Constant" && (node.domain().empty() || node.domain() == "ai.onnx") &&
                       node.output_size() == 1 && !node.output(0).empty() && node.attribute_size() == 1 &&
                       node.attribute(0).name() == "value" && node.attribute(0).has_t() && node.input_size() == 0;
    if (array) {
      auto& tensor = *graph.add_initializer();
      tensor = node.attribute(0).t();
      tensor.set_name(node.output(0));
      moved.insert(node.output(0));
    } else {
      if (kept != i) std::swap(*graph.mutable_node(kept), node);
      ++kept;
    }
  }
  graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
  return moved;
}

void separate_onnx_vectors(::onnx::ModelProto& model) {
  ::onnx::GraphProto& graph = *model.mutable_graph();
  std::map<std::string, int> places;
  for (int i = 0; i < graph.initializer_size(); ++i) places.emplace(graph.initializer(i).name(), i);
  auto& nodes = *graph.mutable_node();
  std::int64_t left = most_copied;
  const auto copied = [&](const ::onnx::NodeProto& node) {
    if (node.op_type() != "Identity" || node.input_size() != 1 || node.output_size() != 1) return false;
    const auto from = places.find(node.input(0));
    if (from == places.end() || graph.initializer(from->second).dims_size() != 1) return false;
    const std::int64_t elements = graph.initializer(from->second).dims(0);
    if (elements < 0 || elements > left) return false;
    left -= elements;
    ::onnx::TensorProto& copy = *graph.add_initializer();
    copy = graph.initializer(from->second);
    copy.set_name(node.output(0));
    return true;
  };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), copied), nodes.end());
}

void strip_onnx_numbers(::onnx::ModelProto& model, const std::vector<std::string>& weights, const std::string& folder,
                        const std::string& where) {
  const std::set<std::string> stripped(weights.begin(), weights.end());
  for (::onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    const bool outside = tensor.data_location() == ::onnx::TensorProto::EXTERNAL;
    if (stripped.count(tensor.name()) > 0) {
      clear_numbers(tensor);
    } else if (outside) {
      const Tensor numbers = read_onnx_tensor(tensor, folder, where);
      clear_numbers(tensor);
      tensor.set_raw_data(numbers.raw(), numbers.bytes());
    }
  }
  model.mutable_graph()->clear_value_info();
  model.mutable_graph()->clear_doc_string();
  for (::onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) node.clear_doc_string();
}

std::string onnx_message_text(const ::onnx::ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  return encode_base64(bytes.data(), bytes.size());
}

::onnx::ModelProto onnx_message(const std::string& text) {
  const auto bytes = decode_base64(std::string_view(text).substr(0, text.find('=')));
  if (!bytes) fail<ValueError>("[OnnxModel]", "graph must be a message in base64");
  ::onnx::ModelProto model;
  if (!model.ParseFromString(*bytes) || !model.has_graph()) {
    fail<ValueError>("[OnnxModel]", "graph must be a message of ONNX in base64; got a damaged one");
  }
  return model;
}

}  // namespace mezzo::detail
