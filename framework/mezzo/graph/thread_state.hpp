#pragma once
#include <string>
#include <vector>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/graph/scope.hpp>

namespace mezzo {

class Trace;
namespace detail {
class UpdateCollector;
}  // namespace detail

/// The graph's part of a thread's ExecutionContext.
struct GraphState {
  /// Layer of the inserted nodes, in place of the running layer. Null if there is no OriginScope.
  struct Origin {
    const std::string* where = nullptr;
    const std::string* path = nullptr;
  };

  detail::Frames frames;          ///< running layers, outermost first
  detail::CastRegions outermost;  ///< regions outside all layers
  Policy base_policy;             ///< policy of the Trainer
  Origin origin;
  Trace* trace = nullptr;                      ///< innermost trace
  detail::UpdateCollector* updates = nullptr;  ///< innermost collector
  bool quiet_casts = false;                    ///< true: casts by op lists are not reported
};

inline GraphState& graph_state() { return detail::ExecutionContext::current().part<GraphState>(); }

}  // namespace mezzo
