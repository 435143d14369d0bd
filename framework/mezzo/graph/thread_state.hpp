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
  /// Layer of the inserted nodes, in place of the running layer. Null if there is no OriginScope.
  struct Origin {
    const std::string* where = nullptr;
    const std::string* path = nullptr;
  };

  Frames frames;          ///< running layers, outermost first
  CastRegions outermost;  ///< regions outside all layers
  Policy base_policy;     ///< policy of the Trainer
  Origin origin;
  Trace* trace = nullptr;              ///< innermost trace
  UpdateCollector* updates = nullptr;  ///< innermost collector
  bool quiet_casts = false;            ///< true: casts by op lists are not reported
};

inline GraphState& graph_state() { return detail::ExecutionContext::current().part<GraphState>(); }

}  // namespace mezzo
