#pragma once
#include <cstddef>

/// Functions of the plug-in mezzo_mpi. They take plain data, so that one plug-in fits the static and the shared
/// library.
namespace mezzo::mpi_plugin {

constexpr int current_version = 1;

struct Memory {
  void* data;
  std::size_t bytes;
};

struct Functions {
  int version;  ///< current_version of the plug-in
  int rank, size, local_rank, local_size;
  /// Transport::exchange; `cancelled` returns 1 to end the wait. 0, or 1 with a text in `error`.
  int (*exchange)(const Memory* send, const Memory* receive, int (*cancelled)(const void*), const void* argument,
                  char* error, std::size_t error_bytes);
  void (*fail)(const char* reason);  ///< Transport::fail
  void (*close)();                   ///< the end: waits until all ranks call it, or ends them after a failure
};

/// Type of mezzo_mpi_open, which starts MPI on the calling thread; that thread makes all further calls. 0, or 1 with a
/// text in `error`.
using Open = int (*)(Functions* functions, char* error, std::size_t error_bytes);

}  // namespace mezzo::mpi_plugin
