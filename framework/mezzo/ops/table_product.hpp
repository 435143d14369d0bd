#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Matrix product of x (..., K) and a transposed table (N, K): logits by a table of embeddings. Under a policy whose
/// products() are int8, rows of x and of the table are quantized to int8 (core/int8_scale.hpp), also in the gradient of
/// x. The gradient of the table is computed in the compute dtype.
MEZZO_API Value matmul_of_table(const Value& x, const Value& table);

}  // namespace mezzo::detail
