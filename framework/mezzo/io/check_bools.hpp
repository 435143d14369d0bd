#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

/// Throws a FileError that starts with `where` unless each of `count` bytes, the bools of a file, is 0 or 1.
inline void check_bools(const void* from, std::uint64_t count, const std::string& where) {
  const auto* bytes = static_cast<const std::uint8_t*>(from);
  if (std::any_of(bytes, bytes + count, [](std::uint8_t byte) { return byte > 1; })) {
    fail<FileError>(where, "bools must be 0 or 1; got another value");
  }
}

}  // namespace mezzo::detail
