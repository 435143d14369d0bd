#pragma once
#include <functional>
#include <unordered_map>

#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// Number of readers of each value, outputs, updates and gates of the graph among them.
class Uses {
 public:
  explicit Uses(const Graph& graph);
  int of(const Value& value) const;

 private:
  std::unordered_map<const Node*, std::vector<int>> counts_;
};

/// A node of a graph under rewriting: an op on values, with its layer's names.
NodePtr make_node(const Op& op, Values inputs, Attributes attributes, std::vector<Spec> outputs, const Node& origin);

/// What a rule does to the graph that is being built.
class Rewriter {
 public:
  virtual ~Rewriter() = default;

  /// Adds a node; its outputs.
  virtual Values add(const NodePtr& node) = 0;

  /// From here on the values stand for the outputs of a node that has been passed already.
  virtual void replace(const NodePtr& old, Values values) = 0;
};

/// Builds a graph anew, node by node. `rule` gets a node as it was and as it is with inputs of the new graph; it
/// returns what stands for the node's outputs, or nothing to keep the node.
using Rule = std::function<Values(const NodePtr& old, const NodePtr& node, Rewriter& to)>;
Graph rewrite(const Graph& graph, const Rule& rule);

}  // namespace mezzo
