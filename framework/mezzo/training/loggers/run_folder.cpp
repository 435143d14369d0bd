#include <mezzo/training/loggers/run_folder.hpp>

#include <algorithm>
#include <filesystem>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>

namespace mezzo {
namespace fs = std::filesystem;

namespace loggers {

LogVersion::LogVersion(int number) : folder_(fmt::format("version_{}", number)) {
  if (number < 0) fail<ValueError>("", "version of a logger must be 0 or more, or a name; got {}", number);
}

std::string LogVersion::named(const std::string& name) {
  if (name.empty()) fail<ValueError>("", "version of a logger must be 0 or more, or a name; got \"\"");
  return name;
}

}  // namespace loggers

namespace detail {
namespace {

const std::string version_prefix = "version_";

/// The number after the largest one of the folders "version_<number>".
int next_version(const fs::path& parent) {
  constexpr std::size_t most_digits = 9;
  int next = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(version_prefix, 0) != 0 || !entry.is_directory(ignored)) continue;
    const std::string digits = name.substr(version_prefix.size());
    const bool is_number =
        !digits.empty() && digits.size() <= most_digits && digits.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) next = std::max(next, std::stoi(digits) + 1);
  }
  return next;
}

}  // namespace

RunFolder::RunFolder(std::string where, std::string save_dir, const std::string& name, loggers::LogVersion version)
    : where_(std::move(where)), parent_(std::move(save_dir)), version_(std::move(version)) {
  if (parent_.empty()) fail<ValueError>(where_, "save_dir must not be empty; \".\" is the current folder");
  check_path(parent_, where_);
  check_path(name, where_);
  if (!name.empty()) parent_ = (fs::path(parent_) / name).string();
}

const std::string& RunFolder::path() {
  if (!path_.empty()) return path_;
  const auto make = [&](const fs::path& folder, bool above) {
    std::error_code error;
    const bool made = above ? fs::create_directories(folder, error) : fs::create_directory(folder, error);
    if (error) fail<FileError>(where_, "folder \"{}\" can't be made: {}", folder.string(), error.message());
    return made;
  };
  fs::path folder;
  if (version_.folder()) {
    folder = fs::path(parent_) / *version_.folder();
    make(folder, true);
  } else {
    make(parent_, true);
    do {  // another process may have made it
      folder = fs::path(parent_) / fmt::format("{}{}", version_prefix, next_version(parent_));
    } while (!make(folder, false));
  }
  path_ = folder.string();
  return path_;
}

std::string RunFolder::version() { return fs::path(path()).filename().string(); }

}  // namespace detail
}  // namespace mezzo
