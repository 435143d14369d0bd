#pragma once
#include <cstdint>
#include <string>

namespace mezzo::detail {

/// A regular file, open for reading. Files are not mapped into memory: a page that another process cuts off would end
/// this one. Throws FileErrors that start with `where`.
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

  /// The same, with check_unchanged() before and after it.
  void read_unchanged(std::uint64_t offset, void* to, std::uint64_t count, const std::string& where) const;

  /// A FileError unless the file had `count` bytes at `offset` when it was opened.
  void check_place(std::uint64_t offset, std::uint64_t count, const std::string& where) const;

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::int64_t changed_ = 0;  // nanoseconds
};

}  // namespace mezzo::detail
