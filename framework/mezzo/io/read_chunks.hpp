#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {

/// Calls `use` with a pointer and a size for `count` bytes at `offset`, in order, a buffer of up to 256 KiB at a time.
/// A FileError that starts with `where` if the file was changed since it was opened.
template <class Use>
void read_chunks(const OpenFile& file, std::uint64_t offset, std::uint64_t count, const std::string& where,
                 const Use& use) {
  constexpr std::uint64_t most = 1ULL << 18U;
  std::vector<std::uint8_t> buffer(static_cast<std::size_t>(std::min(count, most)));
  file.check_unchanged(where);
  while (count > 0) {
    const std::uint64_t size = std::min(count, most);
    file.read(offset, buffer.data(), size, where);
    use(static_cast<const std::uint8_t*>(buffer.data()), static_cast<std::size_t>(size));
    offset += size;
    count -= size;
  }
  file.check_unchanged(where);
}

}  // namespace mezzo::detail
