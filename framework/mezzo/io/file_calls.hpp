#pragma once
#include <sys/types.h>

#include <cstddef>
#include <functional>

namespace mezzo::detail {

/// System calls of a save whose failure is an error of the save. Each has the arguments, result and errno of the
/// function of the same name.
struct FileCalls {
  FileCalls();

  std::function<int(int folder, const char* path, int flags, mode_t mode)> openat;
  std::function<ssize_t(int file, const void* from, std::size_t count)> write;
  std::function<int(int file)> fsync;
  std::function<int(int file)> close;
  std::function<int(int from_folder, const char* from, int to_folder, const char* to)> renameat;
  std::function<int(const char* target, int folder, const char* name)> symlinkat;
  std::function<int(int from_folder, const char* from, int to_folder, const char* to, int flags)> linkat;
  std::function<int(int folder, const char* path, int flags)> unlinkat;
};

/// The calls of this process. Tests replace them while no other thread saves.
FileCalls& file_calls();

}  // namespace mezzo::detail
