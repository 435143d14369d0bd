#pragma once
#include <functional>
#include <string>
#include <vector>

namespace mezzo::detail {

/// Writes the files of a folder together. They go to a temporary folder; commit() gives them their places. Destruction
/// without commit() deletes them. Throws FileErrors that start with `where`.
class FolderReplacement {
 public:
  /// `path`: a folder, which is made by commit() if it doesn't exist. Throws if that is a file, or if no folder can be
  /// made beside it, or in it if it exists; the text names a file in the way.
  FolderReplacement(const std::string& path, std::string where);
  ~FolderReplacement();
  FolderReplacement(const FolderReplacement&) = delete;
  FolderReplacement& operator=(const FolderReplacement&) = delete;

  /// Path of a file to write.
  std::string file(const std::string& name) const;

  /// Makes the written files those of the folder. A new folder appears with all of them at once. In an existing one
  /// `last` is removed first and replaced last, so that the folder is not taken for a complete one meanwhile; files
  /// that `stale` names and that were not written are removed, others stay. Throws before any change if a folder has
  /// the name of a written file. The text of a later error says that the folder is incomplete.
  void commit(const std::string& last, const std::function<bool(const std::string& name)>& stale);

 private:
  void check_places() const;
  void replace_files(const std::string& last, const std::function<bool(const std::string& name)>& stale);

  std::string path_, where_, temporary_;
  bool exists_ = false;
};

}  // namespace mezzo::detail
