#include <mezzo/io/file_replacement.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file_calls.hpp>

namespace mezzo::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t stale_link_seconds = 60;
constexpr std::string_view temporary_prefix = ".mezzo-", temporary_suffix = ".tmp";

bool is_temporary(std::string_view name) {
  if (name.size() <= temporary_prefix.size() + temporary_suffix.size() ||
      name.substr(0, temporary_prefix.size()) != temporary_prefix ||
      name.substr(name.size() - temporary_suffix.size()) != temporary_suffix) {
    return false;
  }
  const std::string_view middle =
      name.substr(temporary_prefix.size(), name.size() - temporary_prefix.size() - temporary_suffix.size());
  return middle.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

/// Deletes temporary files whose writer ended without deleting them. A writer locks its file; the kernel unlocks it
/// when the writer ends. On a file system without locks no file is deleted.
void delete_stale_files(int folder) {
  DIR* const entries = ::fdopendir(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries)) {
    if (!is_temporary(entry->d_name)) continue;
    struct stat status {};
    const bool known = ::fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && S_ISLNK(status.st_mode) && std::time(nullptr) - status.st_ctime > stale_link_seconds) {
      ::unlinkat(folder, entry->d_name, 0);  // links have no locks, but are renamed at once
    }
    const int file = ::openat(folder, entry->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (regular && ::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, entry->d_name, 0);
    ::close(file);
  }
  ::closedir(entries);
}

/// Follows symbolic links, also those to files that don't exist yet.
fs::path follow_links(fs::path path, const std::string& where) {
  constexpr int most_links = 40;  // the kernel's limit
  std::error_code ignored;
  for (int links = 0; fs::is_symlink(path, ignored); ++links) {
    const fs::path next = fs::read_symlink(path, ignored);
    if (links == most_links || next.empty()) {
      fail<FileError>(where, "must not be a symbolic link that leads through more than {} others", most_links);
    }
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

int open_folder(const fs::path& folder) {
  return file_calls().openat(AT_FDCWD, folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

/// A new name; "" if the system returns no random number.
std::string temporary_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return {};
  return fmt::format("{}{:016x}{}", temporary_prefix, number, temporary_suffix);
}

}  // namespace

FileReplacement::Descriptor::~Descriptor() { reset(-1); }

void FileReplacement::Descriptor::reset(int other) {
  if (value >= 0) ::close(value);
  value = other;
}

FileReplacement::FileReplacement(const std::string& path, std::string where) : where_(std::move(where)) {
  check_path(path, where_);
  const fs::path target = follow_links(path, where_);
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  name_ = target.filename().string();
  if (name_.empty() || (replaces && !S_ISREG(old.st_mode))) {
    if (path.empty()) fail<FileError>(where_, "the path must not be empty");
    fail<FileError>(where_, "must be a regular file; got another kind of file");
  }
  // A rename would replace a read-only file, and root may write to any.
  constexpr mode_t writable = 0222;
  if (replaces && ((old.st_mode & writable) == 0 || ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)) {
    fail<FileError>(where_, "must be writable; got a read-only file");
  }
  const fs::path folder = target.parent_path();
  folder_.reset(open_folder(folder));
  if (folder_.value < 0) fail_with_errno("cannot be written: no file can be created in its folder");
  delete_stale_files(folder_.value);
  create_temporary();
  if (replaces) static_cast<void>(::fchmod(file_.value, old.st_mode & 07777U) == 0);
}

FileReplacement::~FileReplacement() {
  if (!temporary_.empty()) ::unlinkat(folder_.value, temporary_.c_str(), 0);
}

void FileReplacement::create_temporary() {
  while (true) {
    const std::string name = temporary_name();
    if (name.empty()) fail_with_errno("cannot be written: no random number");
    file_.reset(file_calls().openat(folder_.value, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_.value < 0 && errno == EEXIST) continue;
    if (file_.value < 0) fail_with_errno("cannot be written: no file can be created in its folder");
    // Another process may delete the file as stale before it is locked.
    while (::flock(file_.value, LOCK_EX) != 0 && errno == EINTR) continue;
    struct stat status {};
    if (::fstat(file_.value, &status) == 0 && status.st_nlink == 0) continue;
    temporary_ = name;
    return;
  }
}

void FileReplacement::write(const void* from, std::size_t count) {
  constexpr std::size_t chunk = std::size_t{1} << 30;  // write is limited to less than 2^31 bytes
  const auto* bytes = static_cast<const char*>(from);
  while (count > 0) {
    const ssize_t done = file_calls().write(file_.value, bytes, std::min(count, chunk));
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = ENOSPC;
    if (done <= 0) fail_with_errno("cannot be written");
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
}

void FileReplacement::flush() {
  if (file_calls().fsync(file_.value) != 0) fail_with_errno("cannot be flushed to the disk");
  check_close();
  flushed_ = true;
}

void FileReplacement::commit() {
  if (!flushed_) flush();
  if (file_calls().renameat(folder_.value, temporary_.c_str(), folder_.value, name_.c_str()) != 0) {
    fail_with_errno("cannot be renamed from its temporary name");
  }
  temporary_.clear();
  file_.reset(-1);
  // EINVAL: the file system has no fsync of folders.
  if (file_calls().fsync(folder_.value) == 0 || errno == EINVAL) return;
  fail_with_errno(
      "has the new content, but its folder cannot be flushed to the disk: a power failure may bring back what was "
      "there before");
}

// The file itself is closed after the rename, since that unlocks it.
void FileReplacement::check_close() const {
  const int other = ::fcntl(file_.value, F_DUPFD_CLOEXEC, 0);
  if (other < 0) fail_with_errno("cannot be closed");
  if (file_calls().close(other) != 0 && errno != EINTR) fail_with_errno("cannot be closed");
}

void FileReplacement::fail_with_errno(const char* message) const {
  fail<FileError>(where_, "{}: {}", message, std::strerror(errno));
}

void replace_file(const std::string& path, std::string_view content, const std::string& where) {
  FileReplacement file(path, where);
  file.write(content.data(), content.size());
  file.commit();
}

void replace_link(const std::string& target, const std::string& path, const std::string& where) {
  const fs::path link(path);
  const auto check = [&](bool good) {
    if (!good) fail<FileError>(where, "link \"{}\" can't be made: {}", path, std::strerror(errno));
  };
  const int folder = open_folder(link.parent_path());
  check(folder >= 0);
  const std::string temporary = temporary_name();
  const bool made = !temporary.empty() && file_calls().symlinkat(target.c_str(), folder, temporary.c_str()) == 0;
  const bool good = made && file_calls().renameat(folder, temporary.c_str(), folder, link.filename().c_str()) == 0;
  const int error = errno;
  if (made && !good) ::unlinkat(folder, temporary.c_str(), 0);
  ::close(folder);
  errno = error;
  check(good);
}

void keep_generation(const std::string& from, const std::string& path, const std::string& where) {
  const fs::path old(from), kept(path);
  const int folder = open_folder(old.parent_path());
  const auto rename = [&](const std::string& name) {
    return file_calls().renameat(folder, name.c_str(), folder, kept.filename().c_str()) == 0;
  };
  bool good = false;
  constexpr int most_tries = 3;  // another process may sweep the temporary name away
  for (int tries = 0; folder >= 0 && !good && tries < most_tries; ++tries) {
    const std::string temporary = temporary_name();
    if (temporary.empty()) break;
    if (file_calls().linkat(folder, old.filename().c_str(), folder, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      good = rename(temporary);
      const int error = errno;
      ::unlinkat(folder, temporary.c_str(), 0);  // also if both names were the same file: rename leaves them then
      errno = error;
      if (!good && errno != ENOENT) break;
    } else if (errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK) {
      good = rename(old.filename().string());
      break;
    } else if (errno != EEXIST) {
      break;
    }
  }
  const int error = errno;
  if (folder >= 0) ::close(folder);
  if (!good) fail<FileError>(where, "\"{}\" can't be kept as \"{}\": {}", from, path, std::strerror(error));
}

}  // namespace mezzo::detail
