#include <mezzo/onnx/import_cut.hpp>

#include <algorithm>
#include <map>

#include <mezzo/core/fail.hpp>
#include <mezzo/onnx/import_nodes.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t most_listed = 20;  // names in an error

/// Values that nodes make, by all of their names.
std::map<std::string, std::string> values_by_name(const ::onnx::GraphProto& graph) {
  std::map<std::string, std::string> out;
  for (const auto& node : graph.node()) {
    for (const std::string& output : node.output()) {
      if (!output.empty()) out[output] = output;
    }
  }
  for (const auto& node : graph.node()) {
    const auto first =
        std::find_if(node.output().begin(), node.output().end(), [](const auto& name) { return !name.empty(); });
    if (first == node.output().end()) continue;
    const std::string name = onnx_node_name(node);
    out.emplace(name, *first);
    if (const std::string layer = onnx_layer_name(name); !layer.empty()) out.emplace(layer, *first);
  }
  return out;
}

/// The last nodes of a graph, by name.
std::vector<std::string> last_nodes(const ::onnx::GraphProto& graph) {
  std::vector<std::string> out;
  for (int i = graph.node_size(); i-- > 0 && out.size() < most_listed;) {
    if (std::string name = onnx_node_name(graph.node(i)); !name.empty()) out.push_back(std::move(name));
  }
  return out;
}

/// Removes the elements of a list for which `unread` is true.
template <class List, class F>
void remove_from(List& list, const F& unread) {
  list.erase(std::remove_if(list.begin(), list.end(), unread), list.end());
}

}  // namespace

void cut_onnx_graph(::onnx::ModelProto& model, const std::vector<std::string>& outputs, const std::string& where) {
  if (outputs.empty()) return;
  ::onnx::GraphProto& graph = *model.mutable_graph();
  const std::map<std::string, std::string> values = values_by_name(graph);
  graph.clear_output();
  for (const std::string& name : outputs) {
    const auto found = values.find(name);
    if (found == values.end()) {
      fail<NameError>(where, "outputs must be names of nodes, or of values that nodes make; got \"{}\"; last nodes: {}",
                      name, fmt::join(last_nodes(graph), ", "));
    }
    graph.add_output()->set_name(found->second);
  }
  const std::vector<bool> needed = needed_onnx_nodes(graph);
  int kept = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (needed[static_cast<std::size_t>(i)]) graph.mutable_node()->SwapElements(kept++, i);
  }
  graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
  OnnxNames read;
  add_onnx_names_read(graph, read);
  const auto unread = [&](const auto& one) { return read.count(one.name()) == 0; };
  remove_from(*graph.mutable_input(), unread);
  remove_from(*graph.mutable_initializer(), unread);
}

}  // namespace mezzo::detail
