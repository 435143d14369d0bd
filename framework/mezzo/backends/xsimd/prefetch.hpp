#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace mezzo::xsimd_kernels {

/// Fetches the cache line of that address to the L2 cache. An address outside of an array has no effect.
[[gnu::always_inline]] inline void fetch_to_second_level(const void* p) {
  constexpr int to_read = 0, second_level = 2;
  __builtin_prefetch(p, to_read, second_level);
}

/// Bytes that are fetched into the L2 cache while other work runs, a cache line at a time: a core waits if it requests
/// dozens of lines at once.
struct Prefetch {
  static constexpr std::int64_t line_bytes = 64;
  const char *next = nullptr, *end = nullptr;
  std::int64_t step = line_bytes;  ///< distance of the lines

  std::int64_t lines() const { return (end - next + step - 1) / step; }

  /// Removes and returns the first `count` lines.
  Prefetch take(std::int64_t count) {
    const char* const first = next;
    next = count < lines() ? next + count * step : end;
    return {first, next, step};
  }
};

/// Arrays that are fetched one after the other, in equal parts for each of `turns`.
class PrefetchQueue {
 public:
  PrefetchQueue(const std::array<Prefetch, 4>& arrays, std::int64_t turns) : arrays_(arrays) {
    for (const Prefetch& array : arrays) lines_ += array.lines();
    lines_ = lines_ / std::max<std::int64_t>(turns, 1) + 1;
  }

  Prefetch next_turn() {
    while (at_ + 1 < arrays_.size() && arrays_[at_].next >= arrays_[at_].end) ++at_;
    return arrays_[at_].take(lines_);
  }

 private:
  std::array<Prefetch, 4> arrays_;
  std::size_t at_ = 0;
  std::int64_t lines_ = 0;
};

}  // namespace mezzo::xsimd_kernels
