#pragma once
#include <optional>

#include <mezzo/graph/value.hpp>

namespace mezzo {

/// `mask` (bool) says which keys a query may see, `bias` is added to the scores before the softmax; both broadcast to
/// (batch, heads, query positions, key positions). With `is_causal` query i sees the keys up to i. In training each
/// weight is dropped with probability `dropout`. `scale` multiplies the scores; 1 / sqrt(head size) by default.
struct AttentionOptions {
  Value mask{};
  Value bias{};
  bool is_causal = false;
  double dropout = 0;
  std::optional<double> scale{};
};

/// softmax(query key^T scale + bias) value, each head for itself (Vaswani et al., 2017). query is (batch, query
/// positions, heads, size), key (batch, key positions, heads, size), value (batch, key positions, heads, value size),
/// the result (batch, query positions, heads, value size), in the dtype of the operands; everything between is
/// float32, or float64 for float64. The scores are never in memory as a whole: neither forward nor backward (Rabe and
/// Staats, 2021; Dao et al., 2022), unless the bias has a gradient. A query that sees no key gives 0. A ShapeError if
/// shapes don't fit, a ValueError for a dropout outside [0, 1).
Value dot_product_attention(const Value& query, const Value& key, const Value& value,
                            const AttentionOptions& options = {});

}  // namespace mezzo
