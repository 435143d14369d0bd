#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Matrix product of x (..., K) and a transposed table (N, K): logits by a table of embeddings. Under a policy whose
/// products() are int8, rows of x and of the table are quantized, but nothing in the gradients: a row of cotangents of
/// a softmax has one large number, that of the target, beside which the others would be rounded to 0.
MEZZO_API Value matmul_of_table(const Value& x, const Value& table);

}  // namespace mezzo::detail
