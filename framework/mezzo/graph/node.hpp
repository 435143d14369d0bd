#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/graph/op.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/variable_state.hpp>

namespace mezzo {

/// An op applied to values. Immutable once inserted, except `results`, and `updates` of functional graphs.
struct Node {
  const Op* op = nullptr;
  std::vector<Value> inputs;
  Attributes attributes;
  std::vector<Spec> outputs;
  std::string where;                        ///< as errors name the layer that inserted it
  std::string path;                         ///< of that layer, from the root of the run
  std::shared_ptr<VariableState> variable;  ///< of a "variable" leaf
  std::vector<Tensor> results;              ///< where the numbers are known already: eager traces, variables
  std::uint64_t trace = 0;                  ///< of the trace that owns it; 0: of none

  /// @name Of functional graphs, whose nodes are inserted again, with their own casts, when the model is called
  /// @{
  struct Update {
    std::shared_ptr<VariableState> variable;
    Value value;
  };
  Frames frames;
  CastRegions regions;  ///< outside of all layers
  std::vector<Update> updates;
  /// @}

  ~Node();  ///< frees long chains without recursion
};
using NodePtr = std::shared_ptr<Node>;

inline bool is(const Node& node, const Op& op) { return node.op == &op; }

/// True if the value is an output of a node of that op.
inline bool is(const Value& value, const Op& op) { return value.node() && value.node()->op == &op; }

/// All outputs of a node, in order.
Values outputs_of(const NodePtr& node);

}  // namespace mezzo
