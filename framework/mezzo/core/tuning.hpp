#pragma once
namespace mezzo {

/// @name How this process uses threads and memory
/// Each can be set here at any time, holds from the next step on, and begins as its environment variable says: 1 or 0,
/// anything else is a ValueError when it is first asked for. `mezzo env` shows them. The number of threads is
/// thread_count().
/// @{

/// Whether each thread of a step stays on a core of its own, of those that the process may run on. Off at first
/// (MEZZO_BIND_THREADS): on cores that others use too it is slower.
bool thread_binding();
void set_thread_binding(bool bind);

/// Whether numbers too small for a normal float32 or float64 are taken for zero while a step computes: some CPUs take a
/// hundred times as long for one. On at first (MEZZO_FLUSH_DENORMALS). The caller's own code isn't affected; the
/// threads of its OpenMP pool are. float16's denormals are kept: they are computed in float32.
bool flush_denormals();
void set_flush_denormals(bool flush);

/// Whether the system is asked for huge pages, for plans' memory and arrays of 4 MiB and more that are made from now
/// on. On at first (MEZZO_HUGE_PAGES).
bool huge_pages();
void set_huge_pages(bool use);
/// @}

}  // namespace mezzo
