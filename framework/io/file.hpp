#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mezzo {

using Bytes = std::vector<std::uint8_t>;

/// All bytes of a file. A FileError that names it if it is missing, no regular file, unreadable or larger than `limit`.
Bytes read_file(const std::string& path, std::uint64_t limit);

}  // namespace mezzo
