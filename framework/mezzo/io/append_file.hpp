#pragma once
#include <string>
#include <string_view>

namespace mezzo::detail {

/// Writes at the end of a file, which is made if there is none. Each write() reaches the operating system at once, so
/// that a process that is killed loses nothing. Throws FileErrors that start with `where` and name the file.
class AppendFile {
 public:
  /// With `lines`: begins a new line if the file ends within a line, for example because the disk was full.
  AppendFile(std::string path, const std::string& where, bool lines = false);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void write(std::string_view bytes);

  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail_with_errno(const char* message) const;

  std::string path_, where_;
  int descriptor_ = -1;
};

}  // namespace mezzo::detail
