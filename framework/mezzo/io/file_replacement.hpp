#pragma once
#include <cstddef>
#include <string>

namespace mezzo::detail {

/// A file that is to take another's place, or to be new: it is written beside `path`, and commit() brings it to the
/// disk and renames it. Until then the old one is whole; gone without a commit, it leaves nothing. Errors are
/// FileErrors that begin with `where`.
class FileReplacement {
 public:
  FileReplacement(const std::string& path, std::string where);
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  void write(const void* from, std::size_t count);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string where_, target_, temporary_;
  int descriptor_ = -1;
};

}  // namespace mezzo::detail
