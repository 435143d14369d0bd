#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// @name Caches of keys and values
/// A language model that generates text keeps the keys and values of the positions so far in caches of a fixed number
/// of positions, the capacity. A cache is (batch, heads, capacity, size), so that the positions of a head lie side by
/// side. Neither function has a gradient.
/// @{

struct CachedAttentionOptions {
  std::optional<double> scale{};  ///< factor of the scores; default: 1 / sqrt(size)
};

/// Attention of one new position to the positions before `position`, which are in the caches, and to itself. query:
/// (batch, 1, heads, size). key and value, those of the new position: (batch, 1, groups, size) and (batch, 1, groups,
/// value size); `groups` divides heads, and heads / groups queries share a key. keys and values: their caches.
/// position: int32 (), the number of filled positions of the caches, limited to [0, capacity]; later positions are not
/// read. Returns (batch, 1, heads, value size). Results are as by dot_product_attention. A ShapeError if shapes don't
/// fit, a DTypeError for a position of another dtype.
MEZZO_API Value cached_attention(const Value& query, const Value& key, const Value& value, const Value& keys,
                                 const Value& values, const Value& position,
                                 const CachedAttentionOptions& options = {});

/// The cache with x, (batch, positions, heads, size) of the cache's dtype, from `position` on. position: int32 (),
/// limited so that x fits. An update of a variable by this result writes the new positions only. A ShapeError if shapes
/// don't fit, a DTypeError for another dtype.
MEZZO_API Value cache_update(const Value& cache, const Value& x, const Value& position);

/// @}

}  // namespace mezzo
