#pragma once
#include <set>

#include <mezzo/compiler/pipeline.hpp>

namespace mezzo::detail {

/// Float32 variables that a traced step computes with in bfloat16: by a cast of them or of rows that are gathered from
/// them, or by the high half of a split master.
std::set<const VariableState*> copied_to_bfloat16(const Graph& step, const PipelineOptions& passes);

/// Variables whose storage a plan of this graph reads, remainders of split masters too.
std::set<const VariableState*> read_by(const Graph& graph);

}  // namespace mezzo::detail
