#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <mezzo/graph/trace.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// A number in each trace. Equal in all of them: a fixed number, otherwise one that depends on open sizes.
using TracedNumber = std::vector<std::int64_t>;
using TracedShape = std::vector<TracedNumber>;

bool is_fixed(const TracedNumber& number);

/// One node of the model's graph, in each trace.
using TracedNode = std::vector<const Node*>;

/// Nodes of graphs that differ in numbers alone, each after its inputs. Nodes without influence on outputs are absent.
class AlignedGraphs {
 public:
  /// `differs` is set to the first difference of the graphs beside numbers; "": none.
  AlignedGraphs(const std::vector<const Graph*>& graphs, std::string& differs);

  const std::vector<TracedNode>& nodes() const { return nodes_; }

  /// Place of a node of the first graph.
  std::size_t place_of(const Node* node) const { return places_.front().at(node); }

  /// Shape of an output of a node.
  TracedShape shape(std::size_t node, int output) const;

 private:
  std::string difference() const;

  std::vector<TracedNode> nodes_;
  std::vector<std::unordered_map<const Node*, std::size_t>> places_;  // by graph
};

/// An input of the model.
struct ExportInput {
  std::string name;
  Spec spec;                           ///< -1: open sizes
  std::vector<std::string> symbols{};  ///< names of open sizes, by axis; "" for others, and for automatic names
};

/// The inference graph of a model, traced with several sizes of its open axes.
struct ExportTraces {
  std::vector<ExportInput> inputs;
  std::vector<Graph> graphs;
  std::string batch{};  ///< name of the open size that is the number of samples
};

/// Traces the model. Open sizes of several inputs are different ones if the model takes that, otherwise equal on equal
/// axes. Throws the error of the first trace if none succeeds, or a ValueError that starts with `where` if the graphs
/// differ in more than numbers.
ExportTraces trace_for_export(Module& module, const std::vector<ExportInput>& inputs, const std::string& where);

/// Adds a trace with the largest sizes beside the batch that the model takes, up to 4096. Nothing if their ops differ.
void add_long_trace(Module& module, ExportTraces& traces);

}  // namespace mezzo::detail
