#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mezzo {

using Bytes = std::vector<std::uint8_t>;

/// All bytes of a file. A FileError that names it if it is missing, no regular file, unreadable or larger than `limit`.
Bytes read_file(const std::string& path, std::uint64_t limit);

/// Four bytes, the most significant one first.
inline std::uint32_t big_endian(const std::uint8_t* bytes) {
  return (std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) | (std::uint32_t{bytes[2]} << 8U) |
         bytes[3];
}

}  // namespace mezzo
