#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/core/dtype.hpp>
#include <mezzo/graph/op.hpp>

namespace mezzo::xsimd_kernels {

/// Bytes that a thread still finds in the caches, when the next kernel reads what this one wrote last.
constexpr std::int64_t kept_bytes = 8 << 20;

/// True if an output of rows of channels at address `y` is to be written past the caches. A large array leaves them
/// before it is read, and an ordinary store first reads the cache line from memory. Rows are whole cache lines.
inline bool goes_past_caches(const Spec& spec, const void* y) {
  constexpr std::size_t fewest_bytes = 16 << 20, line = 64;  // two threads keep as much
  const std::size_t row_bytes = static_cast<std::size_t>(spec.shape.back()) * dtype_size(spec.dtype);
  return bytes_of(spec) >= fewest_bytes && row_bytes % line == 0 && reinterpret_cast<std::uintptr_t>(y) % line == 0;
}

}  // namespace mezzo::xsimd_kernels
