#pragma once
#include <cstdint>
#include <string>

#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {

/// A regular file, mapped into memory for reading: only the pages that are read take memory, and the system can drop
/// them again. Throws FileErrors that start with `where`.
class MappedFile {
 public:
  MappedFile(const std::string& path, const std::string& where);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Size in bytes when the file was opened.
  std::uint64_t size() const { return file_.size(); }

  /// Bytes from `offset`, `count` of them, for reading at once. A FileError if they are not in the file, or if the file
  /// was changed since it was opened: reading pages that were cut off would end the process. Thread-safe.
  const std::uint8_t* bytes(std::uint64_t offset, std::uint64_t count, const std::string& where) const;

  /// All bytes, not checked; null for an empty file.
  const std::uint8_t* data() const { return data_; }

 private:
  OpenFile file_;
  const std::uint8_t* data_ = nullptr;
};

}  // namespace mezzo::detail
