#pragma once
#include <xmmintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/graph/op.hpp>

namespace mezzo::xsimd_kernels {

/// Bytes of a thread's last output that are still in the caches when the next kernel reads it: about the thread's share
/// of the last-level cache. Fitted on Zen 4, two threads and 32 MiB of that cache.
constexpr std::int64_t kept_bytes = 8 << 20;

/// True if an output is evicted from the caches before it is read. Such an output is written past them, since an
/// ordinary store first reads the cache line from memory.
inline bool exceeds_caches(const Spec& spec) {
  const int threads = std::max(2, thread_count());
  return bytes_of(spec) >= static_cast<std::size_t>(threads * kept_bytes);
}

/// Bytes of a cache line.
constexpr std::size_t cache_line = 64;

/// True if a cache line starts at this address.
inline bool starts_line(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % cache_line == 0; }

/// True for such an output of rows of channels at address `y`, if the rows are whole cache lines.
inline bool goes_past_caches(const Spec& spec, const void* y) {
  const std::size_t row_bytes = static_cast<std::size_t>(spec.shape.back()) * dtype_size(spec.dtype);
  return exceeds_caches(spec) && row_bytes % cache_line == 0 && starts_line(y);
}

/// Makes stores past the caches visible to the threads that this one signals afterwards.
inline void finish_stores() { _mm_sfence(); }

}  // namespace mezzo::xsimd_kernels
