#pragma once

#include <unistd.h>

#include <csignal>

#include <mezzo/io/file_calls.hpp>

namespace mezzo_tests {

// Number of calls of this process's saves since kill_in_save().
inline int& save_calls() {
  static int seen = 0;
  return seen;
}

// Ends this process at call number `number` of its saves: before it, or in the middle of a write. -1: never.
inline void kill_in_save(int number) {
  static const mezzo::detail::FileCalls real = mezzo::detail::file_calls();
  const auto count = [number] {
    if (save_calls()++ == number) ::raise(SIGKILL);
  };
  mezzo::detail::FileCalls& calls = mezzo::detail::file_calls();
  calls.openat = [=](int folder, const char* path, int flags, mode_t mode) {
    count();
    return real.openat(folder, path, flags, mode);
  };
  calls.write = [=](int file, const void* from, std::size_t size) {
    if (save_calls() == number && size > 1) {
      if (real.write(file, from, size / 2) < 0) ::_exit(4);
    }
    count();
    return real.write(file, from, size);
  };
  calls.fsync = [=](int file) {
    count();
    return real.fsync(file);
  };
  calls.renameat = [=](int from_folder, const char* from, int to_folder, const char* to) {
    count();
    return real.renameat(from_folder, from, to_folder, to);
  };
  calls.symlinkat = [=](const char* target, int folder, const char* name) {
    count();
    return real.symlinkat(target, folder, name);
  };
  calls.unlinkat = [=](int folder, const char* path, int flags) {
    count();
    return real.unlinkat(folder, path, flags);
  };
}

}  // namespace mezzo_tests
