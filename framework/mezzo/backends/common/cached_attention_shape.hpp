#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// Sizes of cached_attention.
struct CachedAttentionShape {
  using Index = std::int64_t;

  Index batch, heads, groups, capacity, size, value_size;
  double scale;

  explicit CachedAttentionShape(const KernelRequest& request)
      : batch(request.inputs[0].shape[0]),
        heads(request.inputs[0].shape[2]),
        groups(request.inputs[3].shape[1]),
        capacity(request.inputs[3].shape[2]),
        size(request.inputs[0].shape[3]),
        value_size(request.inputs[4].shape[3]),
        scale(request.attributes.get<double>("scale")) {}

  /// Number of filled positions of the caches.
  Index filled(const KernelArguments& arguments) const {
    return std::min(std::max<Index>(*arguments.in<std::int32_t>(5), 0), capacity);
  }

  /// Index among the heads of keys and values of all samples, for one among the heads of queries.
  Index group(Index head) const { return head / heads * groups + head % heads * groups / heads; }
};

}  // namespace mezzo
