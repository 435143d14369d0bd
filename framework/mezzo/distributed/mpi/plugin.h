/* Functions of the plug-in mezzo_mpi. It is C, so that one plug-in fits the static and the shared library. */
#ifndef MEZZO_DISTRIBUTED_MPI_PLUGIN_H
#define MEZZO_DISTRIBUTED_MPI_PLUGIN_H

#include <stddef.h>

#define MEZZO_MPI_PLUGIN_VERSION 1

struct mezzo_mpi_memory {
  void* data;
  size_t bytes;
};

struct mezzo_mpi_functions {
  int version; /* MEZZO_MPI_PLUGIN_VERSION of the plug-in */
  int rank, size, local_rank, local_size;
  /* Transport::exchange; `cancelled` returns 1 to end the wait. 0, or 1 with a text in `error`. */
  int (*exchange)(const struct mezzo_mpi_memory* send, const struct mezzo_mpi_memory* receive,
                  int (*cancelled)(const void*), const void* argument, char* error, size_t error_bytes);
  void (*fail)(const char* reason); /* Transport::fail */
  void (*close)(void);              /* the end: waits until all ranks call it, or ends them after a failure */
};

/* Starts MPI on the calling thread, which makes all further calls. 0, or 1 with a text in `error`. */
typedef int (*mezzo_mpi_open_function)(struct mezzo_mpi_functions* functions, char* error, size_t error_bytes);

#endif
