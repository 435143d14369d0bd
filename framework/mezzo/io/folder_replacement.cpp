#include <mezzo/io/folder_replacement.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>

namespace mezzo::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* temporary_folder = ".mezzo-folder-";

std::vector<std::string> file_names(const fs::path& folder) {
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename());
  return out;
}

/// Makes a folder and those around it. Throws a FileError that names a file in the way.
void make_folders(const fs::path& folder, const std::string& where) {
  std::error_code error, ignored;
  fs::create_directories(folder, error);
  if (!error) return;
  for (fs::path outer = folder; outer.has_relative_path(); outer = outer.parent_path()) {
    if (!fs::exists(outer, ignored) || fs::is_directory(outer, ignored)) continue;
    fail<FileError>(where, "must be the path of a folder; \"{}\" is a file", outer.string());
  }
  fail<FileError>(where, "folder \"{}\" can't be made: {}", folder.string(), error.message());
}

/// The file of an error that was not reported about a temporary one.
std::string place_of(const fs::filesystem_error& error) {
  return (error.path2().empty() ? error.path1() : error.path2()).string();
}

}  // namespace

FolderReplacement::FolderReplacement(const std::string& path, std::string where)
    : path_(path), where_(std::move(where)) {
  check_path(path_, where_);
  std::error_code error;
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (path_.empty()) fail<FileError>(where_, "must be the path of a folder; got \"\"");
  exists_ = fs::exists(path_, error);
  if (exists_ && !fs::is_directory(path_, error)) fail<FileError>(where_, "must be a folder; got a file");
  const fs::path outer = exists_ ? fs::path(path_) : fs::path(path_).parent_path();
  if (!outer.empty()) make_folders(outer, where_);
  temporary_ = (outer / temporary_folder).string() + std::string(6, 'X');  // mkdtemp() replaces the six letters
  if (::mkdtemp(temporary_.data()) == nullptr) {
    const int reason = errno;
    temporary_.clear();
    fail<FileError>(where_, "can't be written: no folder can be made in \"{}\": {}",
                    outer.empty() ? "." : outer.string(), std::strerror(reason));
  }
}

FolderReplacement::~FolderReplacement() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

std::string FolderReplacement::file(const std::string& name) const { return (fs::path(temporary_) / name).string(); }

void FolderReplacement::commit(const std::string& last, const std::function<bool(const std::string& name)>& stale) {
  std::error_code error;
  if (!exists_) {
    constexpr auto usual = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                           fs::perms::others_read | fs::perms::others_exec;
    fs::permissions(temporary_, usual, error);
    fs::rename(temporary_, path_, error);
    if (error) fail<FileError>(where_, "can't be made: {}", error.message());
    temporary_.clear();
    return;
  }
  check_places();
  try {
    replace_files(last, stale);
  } catch (const fs::filesystem_error& failed) {
    fail<FileError>(where_, "the folder is incomplete, without a new {}: \"{}\" can't be replaced: {}", last,
                    place_of(failed), failed.code().message());
  }
}

void FolderReplacement::check_places() const {
  std::error_code ignored;
  for (const std::string& name : file_names(temporary_)) {
    const fs::path place = fs::path(path_) / name;
    if (!fs::exists(place, ignored) || fs::is_regular_file(place, ignored)) continue;
    fail<FileError>(where_, "\"{}\" must be a file, which is replaced; got {}", place.string(),
                    fs::is_directory(place, ignored) ? "a folder" : "another kind of file");
  }
}

void FolderReplacement::replace_files(const std::string& last,
                                      const std::function<bool(const std::string& name)>& stale) {
  const fs::path from(temporary_), to(path_);
  fs::remove(to / last);
  const std::vector<std::string> written = file_names(from);
  const std::set<std::string> fresh(written.begin(), written.end());
  for (const std::string& name : file_names(to)) {
    if (fresh.count(name) == 0 && stale(name) && !fs::is_directory(to / name)) fs::remove(to / name);
  }
  for (const std::string& name : written) {
    if (name != last) fs::rename(from / name, to / name);
  }
  fs::rename(from / last, to / last);
}

}  // namespace mezzo::detail
