#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Options of dot_product_attention. `mask` and `bias` broadcast to (batch, heads, query positions, key positions).
struct AttentionOpOptions {
  Value mask{};                   ///< bool: true for keys that a query attends to; default: all
  Value bias{};                   ///< added to the scores before the softmax; default: none
  bool is_causal = false;         ///< query i attends to keys 0 to i only
  double dropout = 0;             ///< probability to drop a weight, in training only; in [0, 1)
  std::optional<double> scale{};  ///< factor of the scores; default: 1 / sqrt(head size)
};

/// softmax(query key^T scale + bias) value for each head (Vaswani et al., 2017). Shapes: query (batch, query positions,
/// heads, size), key (batch, key positions, heads, size), value (batch, key positions, heads, value size), result
/// (batch, query positions, heads, value size). The result has the dtype of the operands; intermediate results are
/// float32 (float64 for float64). The matrix of scores is never stored as a whole, forward or backward (Rabe and
/// Staats, 2021; Dao et al., 2022), unless the bias has a gradient. The result of a query without a key to attend to is
/// 0. Throws a ShapeError if shapes don't fit, a ValueError for a dropout outside [0, 1).
MEZZO_API Value dot_product_attention(const Value& query, const Value& key, const Value& value,
                                      const AttentionOpOptions& options = {});

}  // namespace mezzo
