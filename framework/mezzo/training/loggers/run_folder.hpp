#pragma once
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>

namespace mezzo::loggers {

/// Folder of a run, option `version` of loggers: a number n for "version_n", or the name of the folder. An existing
/// folder is continued. Default: the number after the largest one.
class MEZZO_API LogVersion {
 public:
  LogVersion() = default;
  /// A ValueError for a negative number.
  LogVersion(int number);
  /// A ValueError for "".
  template <class S, detail::IfName<S> = 0>
  LogVersion(const S& name) : folder_(named(name)) {}

  /// "version_3", or the name; none: the next number.
  const std::optional<std::string>& folder() const { return folder_; }

 private:
  static std::string named(const std::string& name);
  std::optional<std::string> folder_;
};

}  // namespace mezzo::loggers

namespace mezzo::detail {

/// Folder `save_dir/name/version` of a logger's files, made at the first access.
class RunFolder {
 public:
  /// A ValueError that starts with `where` for an empty save_dir.
  RunFolder(std::string where, std::string save_dir, const std::string& name, loggers::LogVersion version);

  /// The folder. A version that isn't given is chosen at the first call: processes that call at the same time get
  /// different ones. A FileError if it can't be made.
  const std::string& path();

  /// Last part of path().
  std::string version();

  /// A file in it.
  std::string file(const std::string& name) { return path() + "/" + name; }

  const std::string& where() const { return where_; }

 private:
  std::string where_, parent_;
  loggers::LogVersion version_;
  std::string path_;
};

}  // namespace mezzo::detail
