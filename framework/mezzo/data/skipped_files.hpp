#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/data/folder_files.hpp>

namespace mezzo::detail {

/// Files of a folder that can't be read, by FolderOptions::unreadable. The options must outlive it.
class SkippedFiles {
 public:
  explicit SkippedFiles(const FolderOptions& options) : options_(options) {}

  /// Adds a file whose ending is not one of options.endings. Throws a FileError for unreadable "error".
  void add_other(const std::string& path);

  /// Removes files that options.verify refuses, then writes the warning. Throws the first error for unreadable "error".
  /// MemoryErrors, and errors that are not mezzo's, are always thrown.
  void verify(FolderFiles& files);

  /// Files with other endings by path, then those that options.verify refuses.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::string reason(const std::string& other) const;

  const FolderOptions& options_;
  std::vector<std::string> paths_;
};

}  // namespace mezzo::detail
