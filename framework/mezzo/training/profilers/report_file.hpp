#pragma once
#include <memory>
#include <string>
#include <string_view>

#include <mezzo/io/append_file.hpp>

namespace mezzo::detail {

/// Text of a profiler for the library's output, or for a file, whose earlier content is replaced.
class ReportFile {
 public:
  /// The file `dirpath/filename + extension`; without a filename the output. A ValueError that starts with `where` for
  /// a dirpath alone.
  ReportFile(std::string where, const std::string& dirpath, const std::string& filename, const std::string& extension);

  /// Adds text. A FileError if the folder can't be made or the file can't be written.
  void write(std::string_view text);

  /// Drops the last bytes of the file, which write() has written.
  void drop(std::size_t bytes);

  /// Path of the file; "" for the output.
  const std::string& path() const { return path_; }

 private:
  std::string where_, path_;
  std::unique_ptr<AppendFile> file_;
};

}  // namespace mezzo::detail
