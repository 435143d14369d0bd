#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo::detail {

/// The bytes that an array of this shape, of sizes of 0 or more, takes; nothing if that is beyond all files.
inline std::optional<std::uint64_t> checked_bytes(const Shape& shape, DType dtype) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = dtype_size(dtype);
  for (const auto size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace mezzo::detail
