#pragma once
#include <functional>
#include <unordered_map>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// Number of readers of each value. Outputs, updates and gates of the graph count as readers.
class Uses {
 public:
  explicit Uses(const Graph& graph);
  int of(const Value& value) const;

 private:
  std::unordered_map<const detail::Node*, std::vector<int>> counts_;
};

/// True for output 0 of a node of the op.
bool is_first_output(const Value& value, const Op& op);

/// The value whose bytes a view shows, or the value itself.
Value base_of(Value value);

/// Each node's place in the order of the graph.
std::unordered_map<const detail::Node*, std::size_t> places_of(const Graph& graph);

/// Makes a node of an op on values, with the layer's path and error prefix of `origin`.
detail::NodePtr make_node(const Op& op, Values inputs, Attributes attributes, std::vector<Spec> outputs,
                          const detail::Node& origin);

/// The request for the kernel of a node.
KernelRequest request_of(const detail::Node& node);

/// Operations of a rule on the graph that is being built.
class Rewriter {
 public:
  virtual ~Rewriter() = default;

  /// Adds a node and returns its outputs.
  virtual Values add(const detail::NodePtr& node) = 0;

  /// Replaces the outputs of a node that was visited before by `values`, for all nodes that follow.
  virtual void replace(const detail::NodePtr& old, Values values) = 0;

  /// The value of the new graph for a value of the old graph, of a node that was visited before.
  virtual Value of(const Value& old) const = 0;
};

/// Called for each node: `old` is the node of the old graph, `node` the same with inputs of the new graph. Returns the
/// values that replace the node's outputs, or an empty list to keep the node.
using Rule = std::function<Values(const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to)>;

/// Builds a new graph, node by node, with `rule`.
Graph rewrite(const Graph& graph, const Rule& rule);

}  // namespace mezzo
