#pragma once
#include <cstddef>
#include <vector>

#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {

/// Updates of a traced step that a run may leave out or skip. A step that reads their results must be traced again with
/// guards, which give it the weights as they were.
class ConditionalUpdates {
 public:
  /// Notes the updates of that group. Ops that are added to the graph from now on are later ones.
  void note(const Graph& graph, int group);

  /// True if a later op or an output reads a result of these updates.
  bool read_in(const Graph& graph) const;

 private:
  struct Noted {
    std::size_t nodes;  ///< of the graph, at the time
    Values results;
  };
  std::vector<Noted> noted_;
};

}  // namespace mezzo::detail
