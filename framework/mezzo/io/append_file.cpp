#include <mezzo/io/append_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>

namespace mezzo::detail {

AppendFile::AppendFile(std::string path, const std::string& where, bool lines)
    : path_(std::move(path)), where_(fmt::format("{} \"{}\":", where, path_)) {
  check_path(path_, where_);
  // Read access is for the last byte; a file that can only be written to, such as a pipe, is not a file of lines.
  descriptor_ = ::open(path_.c_str(), (lines ? O_RDWR : O_WRONLY) | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with_errno("cannot be opened for writing");
  struct stat status {};
  char last = '\n';
  const bool ends_within_line = lines && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) &&
                                status.st_size > 0 && ::pread(descriptor_, &last, 1, status.st_size - 1) == 1 &&
                                last != '\n';
  if (!ends_within_line) return;
  try {
    write("\n");
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::write(std::string_view bytes) {
  constexpr std::size_t chunk = std::size_t{1} << 30;  // write is limited to less than 2^31 bytes
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), chunk));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_with_errno("cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void AppendFile::fail_with_errno(const char* message) const {
  fail<FileError>(where_, "{}: {}", message, std::strerror(errno));
}

}  // namespace mezzo::detail
