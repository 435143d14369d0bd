#pragma once
#include <algorithm>
#include <cstdint>

namespace mezzo::xsimd_kernels {

/// Bytes that are fetched into the L2 cache while other work runs, a cache line at a time: a core waits if it asks for
/// dozens of lines at once.
struct Prefetch {
  static constexpr std::int64_t line_bytes = 64;
  const char *next = nullptr, *end = nullptr;

  std::int64_t lines() const { return (end - next + line_bytes - 1) / line_bytes; }

  /// The first `count` lines, which are left out from then on.
  Prefetch take(std::int64_t count) {
    const char* const first = next;
    next = std::min(end, next + count * line_bytes);
    return {first, next};
  }
};

/// Two arrays that are fetched one after the other, in equal parts for each of `turns`.
class PrefetchQueue {
 public:
  PrefetchQueue(const Prefetch& first, const Prefetch& second, std::int64_t turns)
      : first_(first),
        second_(second),
        lines_((first.lines() + second.lines()) / std::max<std::int64_t>(turns, 1) + 1) {}

  Prefetch next_turn() { return first_.next < first_.end ? first_.take(lines_) : second_.take(lines_); }

 private:
  Prefetch first_, second_;
  std::int64_t lines_;
};

}  // namespace mezzo::xsimd_kernels
