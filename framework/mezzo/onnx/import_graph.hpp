#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

struct OnnxBody;
struct OnnxOperator;

/// Attribute of a node.
using OnnxAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                                   std::vector<std::string>, Tensor, std::shared_ptr<const OnnxBody>>;

/// One call of an operator. Values are named by their places in OnnxGraph::values.
struct OnnxNode {
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);  ///< place of an input or output left out

  std::string name;  ///< in the file; of the first output, if it has none
  std::string op;    ///< "Conv"
  const OnnxOperator* function = nullptr;
  std::vector<std::size_t> inputs{}, outputs{};
  std::map<std::string, OnnxAttribute> attributes{};
};

/// Nodes in an order in which each follows its inputs: of the graph, of a branch of an If, or of one iteration of a
/// loop.
struct OnnxBody {
  std::vector<OnnxNode> nodes;
  std::vector<std::size_t> outputs;
  std::vector<std::size_t> inputs{};  ///< of an iteration
};

/// A graph as it is run: checked, without nodes that no output needs.
struct OnnxGraph {
  struct Input {
    std::string name;
    std::size_t place = 0;
    std::optional<DType> dtype{};        ///< none: not given
    std::optional<Shape> shape{};        ///< -1: open; none: of any rank
    std::vector<std::string> symbols{};  ///< names of open sizes, "": none; one for each axis
  };
  struct Initializer {
    std::string name;
    std::size_t place = 0;
    DType dtype = DType::float32;
    Shape shape{};
    bool in_graph = true;             ///< false: in a branch or loop
    std::optional<Tensor> numbers{};  ///< none: those of a Variable, which the message doesn't hold
  };

  std::int64_t opset = 0;
  std::vector<std::string> values;  ///< names
  std::vector<Input> inputs;
  std::vector<Initializer> initializers;
  std::vector<std::string> output_names;
  OnnxBody body;
};

/// Calls `visit(body)` for all branches and loops inside of a body.
template <class F>
void for_each_onnx_body(const OnnxBody& body, const F& visit) {
  for (const OnnxNode& node : body.nodes) {
    for (const auto& entry : node.attributes) {
      const auto* branch = std::get_if<std::shared_ptr<const OnnxBody>>(&entry.second);
      if (branch == nullptr) continue;
      visit(**branch);
      for_each_onnx_body(**branch, visit);
    }
  }
}

/// Calls `visit(node)` for all nodes, with those of branches and loops.
template <class F>
void for_each_onnx_node(const OnnxBody& body, const F& visit) {
  for (const OnnxNode& node : body.nodes) visit(node);
  for_each_onnx_body(body, [&](const OnnxBody& branch) {
    for (const OnnxNode& node : branch.nodes) visit(node);
  });
}

}  // namespace mezzo::detail
