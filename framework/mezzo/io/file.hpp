#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo {

namespace detail {
/// Content of a file.
using Bytes = std::vector<std::uint8_t>;

/// Reads a whole file. Throws a FileError that names the file if it is missing, not a regular file, unreadable or
/// larger than `limit` bytes.
MEZZO_API Bytes read_file(const std::string& path, std::uint64_t limit);

/// Converts four bytes, the most significant one first, to a number.
inline std::uint32_t big_endian(const std::uint8_t* bytes) {
  return (std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) | (std::uint32_t{bytes[2]} << 8U) |
         bytes[3];
}

/// Converts up to eight bytes, the least significant one first, to a number.
inline std::uint64_t little_endian(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = count; i > 0; --i) number = (number << 8U) | bytes[i - 1];
  return number;
}
}  // namespace detail

}  // namespace mezzo
