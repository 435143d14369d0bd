#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Sum over rows of x (..., K) times g (..., N), the gradient of a kernel, from 8-bit codes of both: see tile_matmul in
/// docs/ops.md. The result has that dtype.
Value tile_matmul(const Value& x, const Value& g, DType dtype);

}  // namespace mezzo::detail
