#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/op.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/variable_state.hpp>

namespace mezzo {

namespace detail {
/// An op applied to values. Immutable once inserted, except `results`, and `updates` of functional graphs.
struct MEZZO_API Node {
  const Op* op = nullptr;
  std::vector<Value> inputs;
  Attributes attributes;
  std::vector<Spec> outputs;
  std::string where;                        ///< start of errors: the layer that inserted the node, `[Conv2D "stem"]`
  std::string path;                         ///< path of that layer, from the root of the run
  std::shared_ptr<VariableState> variable;  ///< variable of a leaf of variable_op()
  std::vector<Tensor> results;              ///< outputs, if known already (eager traces, variables); else empty
  std::uint64_t trace = 0;                  ///< id of the trace that owns the node; 0: none
  RematCalls remat;                         ///< calls around the node that may be computed again, outermost first
  bool again = false;                       ///< true: computes a node again, in the backward pass

  /// @name Functional graphs: a call of the model inserts their nodes again, with casts
  /// @{
  struct Update {
    std::shared_ptr<VariableState> variable;
    Value value;
  };
  Frames frames;                ///< running layers, outermost first
  CastRegions regions;          ///< regions outside all layers
  std::vector<Update> updates;  ///< updates of variables to insert with the node
  std::vector<Value> losses;    ///< losses to add with the node
  /// @}

  ~Node();  ///< frees long chains of nodes without recursion
};
using NodePtr = std::shared_ptr<Node>;
}  // namespace detail

/// True if the node applies that op.
inline bool is(const detail::Node& node, const Op& op) { return node.op == &op; }

/// True if the value is an output of a node of that op.
inline bool is(const Value& value, const Op& op) { return value.node() && value.node()->op == &op; }

namespace detail {
/// True if the node has a side effect: it is never dropped and never merged. A loop has a side effect if its body has
/// one.
inline bool has_effect(const Node& node) { return node.op->effect || node.attributes.get_or("effect", false); }

/// All outputs of a node, in order.
MEZZO_API Values outputs_of(const NodePtr& node);
}  // namespace detail

}  // namespace mezzo
