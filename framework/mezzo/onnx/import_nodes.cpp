#include <mezzo/onnx/import_nodes.hpp>

#include <algorithm>

#include <mezzo/core/is_utf8.hpp>

namespace mezzo::detail {
namespace {

/// Adds the names that the bodies of a node read.
void add_names_of_bodies(const ::onnx::NodeProto& node, OnnxNames& names) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add_onnx_names_read(attribute.g(), names);
  }
}

}  // namespace

std::string onnx_node_name(const ::onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  const auto named =
      std::find_if(node.output().begin(), node.output().end(), [](const auto& name) { return !name.empty(); });
  return named == node.output().end() ? std::string() : *named;
}

std::string onnx_layer_name(const std::string& node) {
  std::string name = node.substr(std::min(node.find_first_not_of('/'), node.size()));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '\\'; }, '.');
  return name == "." || name == ".." || !is_utf8(name) ? std::string() : name;
}

void add_onnx_names_read(const ::onnx::GraphProto& graph, OnnxNames& names) {
  for (const auto& node : graph.node()) {
    names.insert(node.input().begin(), node.input().end());
    add_names_of_bodies(node, names);
  }
  for (const auto& output : graph.output()) names.insert(output.name());
}

std::vector<bool> needed_onnx_nodes(const ::onnx::GraphProto& graph) {
  OnnxNames needed;
  for (const auto& output : graph.output()) needed.insert(output.name());
  std::vector<bool> out(static_cast<std::size_t>(graph.node_size()));
  for (int i = graph.node_size(); i-- > 0;) {
    const ::onnx::NodeProto& node = graph.node(i);
    const bool used = std::any_of(node.output().begin(), node.output().end(),
                                  [&](const std::string& name) { return needed.count(name) > 0; });
    if (!used) continue;
    out[static_cast<std::size_t>(i)] = true;
    needed.insert(node.input().begin(), node.input().end());
    add_names_of_bodies(node, needed);
  }
  return out;
}

}  // namespace mezzo::detail
