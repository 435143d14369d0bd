#pragma once
#include <vector>

#include <mezzo/ops/scan.hpp>
#include <mezzo/ops/scan_body.hpp>

namespace mezzo::detail {

/// A body and its operands.
struct TracedBody {
  std::shared_ptr<ScanBody> body;
  std::vector<DType> carries;  ///< dtypes of the carries, at least those that were given
  bool draws = false;          ///< true: the last sequence is that of draw steps, float64 (length,)
  Values captured;             ///< operands behind the sequences
  Value draw_step;             ///< of the trace around the loop
};

/// Traces one iteration for carries and elements of these specs. Ops that are the same in all iterations are inserted
/// around the loop.
TracedBody trace_body(const ScanFunction& function, std::vector<Spec> carries, const std::vector<Spec>& elements);

/// Inserts the ops of a body again in the running trace. Returns the outputs for these inputs.
Values replay(const Graph& graph, const Values& inputs);

}  // namespace mezzo::detail
