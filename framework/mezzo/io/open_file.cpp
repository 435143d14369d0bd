#include <mezzo/io/open_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <mezzo/core/api.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>

namespace mezzo::detail {
namespace {

std::int64_t time_of_change(const struct stat& status) {
  return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

// Exported for the parts that are libraries of their own, such as mezzo::onnx.
MEZZO_API OpenFile::OpenFile(const std::string& path, const std::string& where) {
  check_path(path, where);
  // O_NONBLOCK: opening a pipe would block until another process writes to it.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    if (errno == ENOENT || errno == ENOTDIR) fail_missing(path, where);
    fail<FileError>(where, "cannot be opened for reading: {}", std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail<FileError>(where, "must be a regular file; got another kind of file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  changed_ = time_of_change(status);
}

MEZZO_API OpenFile::~OpenFile() { ::close(descriptor_); }

void OpenFile::check_unchanged(const std::string& where) const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail<FileError>(where, "cannot be read: {}", std::strerror(errno));
  if (static_cast<std::uint64_t>(status.st_size) != size_) {
    fail<FileError>(where, "the file must have {} bytes, as when it was opened; got {}", size_, status.st_size);
  }
  if (time_of_change(status) != changed_) {
    fail<FileError>(where, "the file must stay as it was when it was opened; it has been written to");
  }
}

void OpenFile::read(std::uint64_t offset, void* to, std::uint64_t count, const std::string& where) const {
  constexpr std::uint64_t chunk = std::uint64_t{1} << 30;  // pread is limited to less than 2^31 bytes
  auto* bytes = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, bytes, std::min(count, chunk), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail<FileError>(where, "cannot be read: {}", std::strerror(errno));
    if (got == 0) {
      fail<FileError>(where, "the file must have {} bytes, as when it was opened; it ends at byte {}", size_, offset);
    }
    bytes += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
}

MEZZO_API void OpenFile::read_unchanged(std::uint64_t offset, void* to, std::uint64_t count,
                                        const std::string& where) const {
  check_unchanged(where);
  read(offset, to, count, where);
  check_unchanged(where);
}

MEZZO_API void OpenFile::check_place(std::uint64_t offset, std::uint64_t count, const std::string& where) const {
  if (offset <= size_ && count <= size_ - offset) return;
  fail<FileError>(where, "must have {} bytes at {}; the file ends at {}", count, offset, size_);
}

}  // namespace mezzo::detail
