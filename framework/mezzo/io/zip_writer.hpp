#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/io/file_replacement.hpp>
#include <mezzo/io/zip_file.hpp>

namespace mezzo::detail {

/// Writes a zip archive of stored entries, with zip64 where sizes need it. The file appears as a whole, at commit().
/// Throws the errors of FileReplacement.
class ZipWriter {
 public:
  using Write = std::function<void(const void* from, std::size_t count)>;

  ZipWriter(const std::string& path, const std::string& where) : file_(path, where) {}

  /// Appends an entry. `content` calls its argument with the bytes; it runs twice, at first for size and checksum. The
  /// name must be UTF-8 of at most 65,535 bytes.
  void add(const std::string& name, const std::function<void(const Write&)>& content);

  /// Writes the directory and makes the archive the content of the file.
  void commit();

 private:
  void write(const std::string& bytes);

  FileReplacement file_;
  std::uint64_t written_ = 0;
  std::vector<ZipEntry> entries_;
};

}  // namespace mezzo::detail
