#pragma once
#include <string>
#include <vector>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/graph/node.hpp>

namespace mezzo {

class Trace;
class UpdateCollector;

/// The graph's part of a thread's ExecutionContext.
struct GraphState {
  /// A layer on whose behalf nodes are inserted, in place of the running one.
  struct Origin {
    const std::string* where = nullptr;
    const std::string* path = nullptr;
  };

  Frames frames;          ///< running layers, outermost first
  CastRegions outermost;  ///< regions outside of all layers
  Policy base_policy;     ///< the Trainer's
  Origin origin;
  Trace* trace = nullptr;              ///< the innermost one
  UpdateCollector* updates = nullptr;  ///< the innermost one
};

inline GraphState& graph_state() { return detail::ExecutionContext::current().part<GraphState>(); }

}  // namespace mezzo
