#pragma once
#include <cstdint>

namespace mezzo::xsimd_kernels {

/// Bytes that are fetched into the L2 cache while other work runs.
struct Prefetch {
  static constexpr std::int64_t line_bytes = 64;
  const char *next = nullptr, *end = nullptr;

  /// Lines to fetch in each of `turns`.
  std::int64_t share(std::int64_t turns) const { return (end - next) / line_bytes / turns + 1; }

  void lines(std::int64_t count) {
    for (; count > 0 && next < end; --count, next += line_bytes) __builtin_prefetch(next, 0, 2);
  }
};

}  // namespace mezzo::xsimd_kernels
