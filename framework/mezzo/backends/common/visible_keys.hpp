#pragma once
#include <cstdint>

namespace mezzo {

/// Keys that a query of attention may see at all. Always inlined, as kernels of several instruction sets use it.
[[gnu::always_inline]] inline std::int64_t visible_keys(std::int64_t query, std::int64_t keys, bool causal) {
  return causal && query + 1 < keys ? query + 1 : keys;
}

}  // namespace mezzo
