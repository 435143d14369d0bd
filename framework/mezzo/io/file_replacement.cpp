#include <mezzo/io/file_replacement.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

FileReplacement::FileReplacement(const std::string& path, std::string where) : where_(std::move(where)), target_(path) {
  std::error_code ignored;
  if (fs::is_symlink(target_, ignored)) {
    const fs::path real = fs::weakly_canonical(target_, ignored);
    if (!real.empty()) target_ = real.string();
  }
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (path.empty() || (replaces && !S_ISREG(old.st_mode))) {
    fail<FileError>(where_, "must be a regular file; got {}", path.empty() ? "no name" : "another kind of file");
  }
  static std::atomic<unsigned> count{0};
  temporary_ = (fs::path(folder_of(target_)) / fmt::format(".mezzo-{}-{}.tmp", ::getpid(), count++)).string();
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with_errno("cannot be written: no file can be created in its folder");
  if (replaces) static_cast<void>(::fchmod(descriptor_, old.st_mode & 07777U) == 0);
}

FileReplacement::~FileReplacement() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void FileReplacement::write(const void* from, std::size_t count) {
  constexpr std::size_t chunk = std::size_t{1} << 30;  // write is limited to less than 2^31 bytes
  const auto* bytes = static_cast<const char*>(from);
  while (count > 0) {
    const ssize_t done = ::write(descriptor_, bytes, std::min(count, chunk));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_with_errno("cannot be written");
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
}

void FileReplacement::commit() {
  if (::fsync(descriptor_) != 0) fail_with_errno("cannot be flushed to the disk");
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_with_errno("cannot be closed");
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
    fail_with_errno("cannot be renamed from its temporary name");
  temporary_.clear();
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail_with_errno("is written, but its folder cannot be flushed to the disk");
  // EINVAL: the file system has no fsync of folders.
  const bool synced = ::fsync(folder) == 0 || errno == EINVAL;
  ::close(folder);
  if (!synced) fail_with_errno("is written, but its folder cannot be flushed to the disk");
}

void FileReplacement::fail_with_errno(const char* message) const {
  fail<FileError>(where_, "{}: {}", message, std::strerror(errno));
}

}  // namespace mezzo::detail
