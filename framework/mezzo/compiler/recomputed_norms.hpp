#pragma once
#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// Norms of which each adds the output of the one before it, in the order of the graph.
using NormChain = std::vector<const detail::Node*>;

/// Batch norms whose output is computed again before its first reader in the backward pass.
class RecomputedNorms {
 public:
  explicit RecomputedNorms(const Graph& graph);

  /// True for norms whose output readers of the backward pass compute again.
  bool contains(const detail::Node& norm) const { return chosen_.count(&norm) > 0; }

  /// True for norms that are computed again for their readers or as the residual of another norm.
  bool is_needed(const detail::Node& norm) const { return contains(norm) || residuals_.count(&norm) > 0; }

  /// The norm that is computed again as the residual of `norm`; null if the residual is another value, or there is
  /// none.
  const detail::Node* residual_of(const detail::Node& norm) const;

  /// The needed norms by residuals, each in one chain.
  std::vector<NormChain> chains(const Graph& graph) const;

 private:
  using Places = std::unordered_map<const detail::Node*, std::size_t>;

  void find_readers(const Graph& graph);
  bool is_worth_it(const detail::Node& norm) const;
  bool can_compute(const detail::Node& norm, std::size_t place);

  Places last_;   // by node: the last reader of output 0
  Places first_;  // by norm: the first reader of y in the backward pass
  std::unordered_map<const detail::Node*, double> work_;
  std::unordered_set<const detail::Node*> kept_;       // nodes whose output 0 lives until the end of the graph
  std::unordered_set<const detail::Node*> late_;       // norms that a forward reader reads after a backward one
  std::unordered_set<const detail::Node*> chosen_;     // norms that are computed again for their readers
  std::unordered_set<const detail::Node*> residuals_;  // norms that are computed again as residuals of those
};

/// True for the ops of gradients, by their names.
bool is_gradient(const detail::Node& node);

}  // namespace mezzo
