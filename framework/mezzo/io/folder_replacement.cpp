#include <mezzo/io/folder_replacement.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>

namespace mezzo::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* temporary_folder = ".mezzo-folder-XXXXXX";

std::vector<std::string> file_names(const fs::path& folder) {
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) out.push_back(entry.path().filename());
  return out;
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
  if (!outer.empty()) fs::create_directories(outer, error);
  if (error) fail<FileError>(where_, "can't be made: {}", error.message());
  temporary_ = (outer / temporary_folder).string();
  if (::mkdtemp(temporary_.data()) == nullptr) {
    const int reason = errno;
    temporary_.clear();
    fail<FileError>(where_, "can't be written: {}", std::strerror(reason));
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
  try {
    replace_files(last, stale);
  } catch (const fs::filesystem_error& failed) {
    fail<FileError>(where_, "the folder is incomplete, without a new {}: {}", last, failed.code().message());
  }
}

void FolderReplacement::replace_files(const std::string& last,
                                      const std::function<bool(const std::string& name)>& stale) {
  const fs::path from(temporary_), to(path_);
  fs::remove(to / last);
  const std::vector<std::string> written = file_names(from);
  const std::set<std::string> fresh(written.begin(), written.end());
  for (const std::string& name : file_names(to)) {
    if (fresh.count(name) == 0 && stale(name)) fs::remove(to / name);
  }
  for (const std::string& name : written) {
    if (name != last) fs::rename(from / name, to / name);
  }
  fs::rename(from / last, to / last);
}

}  // namespace mezzo::detail
