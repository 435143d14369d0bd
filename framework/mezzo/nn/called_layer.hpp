#pragma once
#include <memory>
#include <utility>
#include <vector>

#include <mezzo/graph/node.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// Call of a layer in a functional graph, kept as an attribute of the nodes of its outputs. A call of the model on
/// masked values repeats it. It keeps no symbols.
struct CalledLayer final : AttributeFunction {
  static constexpr const char* attribute = "called_layer";

  /// True if the mask is the one that the call set on that output of the node.
  bool gave(int output, const Value& mask) const;

  Any<Layer> layer{};  ///< a copy, which shares the state; empty if its class is not known
  /// Masks of the outputs of the node, and their places.
  std::vector<std::pair<int, std::pair<std::weak_ptr<Node>, int>>> masks{};
};

/// Keeps a layer, or an empty handle, in the nodes of the outputs of its call, unless they are inputs of it.
void keep_called_layer(const Any<Layer>& layer, const Values& inputs, const Values& outputs);

/// Records the masks that the call set on the outputs.
void keep_masks(const Values& outputs);

/// Call whose output the node is; null if there is none.
const CalledLayer* called_layer(const Node& node);

/// True if a value has the mask that its call set, or no mask if no call made it.
bool has_own_mask(const Value& value);

/// A copy of a layer, which shares its state. An empty handle if the class is neither of mezzo nor registered.
Any<Layer> copy_of_layer(const Layer& layer);

/// Calls a layer as the call in the graph did. `xs`: its inputs, then its masks.
Values call_again(Layer& layer, const GraphLayout::Call& call, const Values& xs);

}  // namespace mezzo::detail
