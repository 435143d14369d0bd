#pragma once
#include <cstdint>
#include <string>

namespace mezzo::detail {

/// A regular file, open for reading. Throws FileErrors that start with `where`.
class OpenFile {
 public:
  OpenFile(const std::string& path, const std::string& where);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// Size in bytes when the file was opened.
  std::uint64_t size() const { return size_; }

  /// A FileError if the size or the time of the last change isn't that of the opening. Thread-safe.
  void check_unchanged(const std::string& where) const;

  /// Reads `count` bytes at `offset`. Thread-safe.
  void read(std::uint64_t offset, void* to, std::uint64_t count, const std::string& where) const;

  /// Maps the whole file into memory for reading, for munmap(); null for an empty file.
  const std::uint8_t* map(const std::string& where) const;

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::int64_t changed_ = 0;  // nanoseconds
};

}  // namespace mezzo::detail
