#pragma once
#include <cstddef>
#include <string>

namespace mezzo::detail {

/// Writes or replaces a file atomically. The data goes to a temporary file in the same folder; commit() flushes it to
/// the disk and renames it to `path`. Until then a previous file stays unchanged. Destruction without commit() deletes
/// the temporary file. If `path` is a symbolic link, its target is replaced. Throws FileErrors that start with `where`.
class FileReplacement {
 public:
  FileReplacement(const std::string& path, std::string where);
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  /// Appends `count` bytes.
  void write(const void* from, std::size_t count);

  /// Makes the written data the content of the file.
  void commit();

 private:
  [[noreturn]] void fail_with_errno(const char* message) const;

  std::string where_, target_, temporary_;
  int descriptor_ = -1;
};

}  // namespace mezzo::detail
