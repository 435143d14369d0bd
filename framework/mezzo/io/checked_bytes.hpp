#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo::detail {

/// Size in bytes of an array with elements of so many bytes; nullopt if it is 2^64 or more. The sizes of the axes must
/// be 0 or more.
inline std::optional<std::uint64_t> checked_bytes(const Shape& shape, std::uint64_t element) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = element;
  for (const auto size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) return std::nullopt;
  }
  return bytes;
}

inline std::optional<std::uint64_t> checked_bytes(const Shape& shape, DType dtype) {
  return checked_bytes(shape, dtype_size(dtype));
}

/// Text of such a size for errors: "12" or "2^64 or more".
inline std::string describe_bytes(std::optional<std::uint64_t> bytes) {
  return bytes ? fmt::format("{}", *bytes) : "2^64 or more";
}

}  // namespace mezzo::detail
