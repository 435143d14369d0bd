#pragma once
#include <set>

#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {

/// Float32 variables that a step computes with in bfloat16: by a cast, or by the high half of a split master. The graph
/// is one after the compiler passes.
std::set<const VariableState*> copied_to_bfloat16(const Graph& graph);

/// Variables whose storage a step reads, remainders of split masters too. The graph is one after the compiler passes.
std::set<const VariableState*> read_by(const Graph& graph);

}  // namespace mezzo::detail
