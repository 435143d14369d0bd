#include <mezzo/io/file_calls.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace mezzo::detail {

FileCalls::FileCalls()
    : openat([](int folder, const char* path, int flags, mode_t mode) { return ::openat(folder, path, flags, mode); }),
      write(::write),
      fsync(::fsync),
      close(::close),
      renameat(::renameat),
      symlinkat(::symlinkat),
      linkat(::linkat),
      unlinkat(::unlinkat) {}

FileCalls& file_calls() {
  static FileCalls calls;
  return calls;
}

}  // namespace mezzo::detail
