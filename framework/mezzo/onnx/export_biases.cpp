#include <algorithm>
#include <numeric>

#include <mezzo/onnx/export_layout.hpp>

namespace mezzo::detail {
namespace {

class BiasJoiner {
 public:
  BiasJoiner(ExportGraph& graph, const ExportNames& outputs) : graph_(graph) {
    for (const std::string& output : outputs) ++readers_[output];
    for (ExportNode& node : graph.nodes) {
      for (const std::string& output : node.outputs) makers_[output] = &node;
      count_readers(node);
    }
  }

  void run() {
    for (ExportNode& node : graph_.nodes) {
      if (node.op != "Add") continue;
      for (const std::size_t side : {0U, 1U}) {
        ExportNode* const conv = convolution(node.inputs[side]);
        const std::string bias = bias_of(node.inputs[1 - side]);
        if (conv == nullptr || bias.empty() || !fits(*conv, bias, node.inputs[1 - side])) continue;
        conv->inputs.push_back(bias);
        node.op = "Identity";
        node.inputs = {conv->outputs[0]};
        break;
      }
    }
  }

 private:
  void count_readers(const ExportNode& node) {
    for (const std::string& input : node.inputs) ++readers_[input];
    visit_bodies(node, [&](const ExportNode& inner) { count_readers(inner); });
  }

  ExportNode* maker(const std::string& name) const {
    const auto found = makers_.find(name);
    return found == makers_.end() ? nullptr : found->second;
  }

  /// The convolution without a bias whose only reader takes this value; null if there is none.
  ExportNode* convolution(const std::string& value) const {
    ExportNode* const node = maker(value);
    const bool plain = node != nullptr && node->op == "Conv" && node->inputs.size() == 2;
    return plain && readers_.at(value) == 1 ? node : nullptr;
  }

  /// The vector that gets axes behind its own in this value; "" if it is another one.
  std::string bias_of(const std::string& value) const {
    const ExportNode* const node = maker(value);
    if (node == nullptr || node->op != "Unsqueeze") return {};
    const Tensor* const vector = graph_.array(node->inputs[0]);
    return vector != nullptr && vector->shape().size() == 1 ? node->inputs[0] : std::string();
  }

  /// True if the vector has an element for each output channel, which the added axes move to axis 1.
  bool fits(const ExportNode& conv, const std::string& bias, const std::string& moved) const {
    const ExportNode* const cast = maker(conv.inputs[1]);
    const Tensor* const kernel = graph_.array(cast != nullptr && cast->op == "Cast" ? cast->inputs[0] : conv.inputs[1]);
    const Tensor* const axes = graph_.array(maker(moved)->inputs[1]);
    if (kernel == nullptr || axes == nullptr || graph_.dtype(bias) != graph_.dtype(conv.outputs[0])) return false;
    const Shape& shape = kernel->shape();
    Shape behind(shape.size() - 2);
    std::iota(behind.begin(), behind.end(), std::int64_t{1});
    const auto* const added = axes->data<std::int64_t>();
    return graph_.array(bias)->size() == shape[0] &&
           std::equal(added, added + axes->size(), behind.begin(), behind.end());
  }

  ExportGraph& graph_;
  std::unordered_map<std::string, ExportNode*> makers_;
  std::unordered_map<std::string, int> readers_;
};

}  // namespace

void join_biases(ExportGraph& graph, const ExportNames& outputs) { BiasJoiner(graph, outputs).run(); }

}  // namespace mezzo::detail
