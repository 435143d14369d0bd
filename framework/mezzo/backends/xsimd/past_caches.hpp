#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/core/dtype.hpp>
#include <mezzo/graph/op.hpp>

namespace mezzo::xsimd_kernels {

/// Bytes that a thread still finds in the caches, when the next kernel reads what this one wrote last.
constexpr std::int64_t kept_bytes = 8 << 20;

/// True if an output leaves the caches before it is read. It is written past them, since an ordinary store first reads
/// the cache line from memory.
inline bool exceeds_caches(const Spec& spec) {
  constexpr std::size_t fewest_bytes = 16 << 20;  // two threads keep as much
  return bytes_of(spec) >= fewest_bytes;
}

/// True for such an output of rows of channels at address `y`, if the rows are whole cache lines.
inline bool goes_past_caches(const Spec& spec, const void* y) {
  constexpr std::size_t line = 64;
  const std::size_t row_bytes = static_cast<std::size_t>(spec.shape.back()) * dtype_size(spec.dtype);
  return exceeds_caches(spec) && row_bytes % line == 0 && reinterpret_cast<std::uintptr_t>(y) % line == 0;
}

}  // namespace mezzo::xsimd_kernels
