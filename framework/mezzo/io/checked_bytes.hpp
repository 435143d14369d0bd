#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo::detail {

/// Size of an array in bytes; nullopt if it is 2^64 or more. The sizes of the axes must be 0 or more.
inline std::optional<std::uint64_t> checked_bytes(const Shape& shape, DType dtype) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = dtype_size(dtype);
  for (const auto size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return std::nullopt;
  }
  return bytes;
}

/// Text of such a size for errors: "12" or "2^64 or more".
inline std::string describe_bytes(std::optional<std::uint64_t> bytes) {
  return bytes ? fmt::format("{}", *bytes) : "2^64 or more";
}

}  // namespace mezzo::detail
