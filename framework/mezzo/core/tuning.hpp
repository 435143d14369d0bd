#pragma once
#include <mezzo/core/api.hpp>

namespace mezzo {

/// @name Settings of this process for threads and memory
/// Each setting can be changed at any time and takes effect with the next step. Its initial value is an environment
/// variable: 1 or 0, or a number of 1 or more for sizes; any other value is a ValueError at the first use of the
/// setting. `mezzo env` shows all settings.
/// The number of threads is thread_count().
/// @{

/// Binds each thread of a step to a core of its own, among those that the process may run on. Default: off
/// (MEZZO_BIND_THREADS), because binding is slower on cores that other processes use too.
MEZZO_API bool thread_binding();
MEZZO_API void set_thread_binding(bool bind);

/// Denormal numbers of float32, bfloat16 and float64 are zero to every op that computes or compares, because some CPUs
/// need a hundred times as long for them. Ops that move elements keep them, also abs and negative. Default: on
/// (MEZZO_FLUSH_DENORMALS). The caller's own code isn't affected, but the threads of its OpenMP pool are. Denormals of
/// float16 are always numbers, because they are computed in float32.
MEZZO_API bool flush_denormals();
MEZZO_API void set_flush_denormals(bool flush);

/// Requests huge pages from the system for the memory of plans and for new arrays of 4 MiB and more. Default: on
/// (MEZZO_HUGE_PAGES).
MEZZO_API bool huge_pages();
MEZZO_API void set_huge_pages(bool use);

/// Lets threads of a step that wait for each other sleep early instead of spinning, while other programs take their
/// processors. It changes no result. Default: on (MEZZO_YIELD_WHEN_BUSY). It has no effect if OMP_WAIT_POLICY is set.
MEZZO_API bool yield_when_busy();
MEZZO_API void set_yield_when_busy(bool yield);

/// Runs steps on fewer threads while other programs take the processors. Sums depend on the number of threads in their
/// last digits, so results then depend on the load of the machine. Default: off (MEZZO_ADAPTIVE_THREADS).
/// TrainerOptions::adaptive_threads overrides it for a Trainer.
MEZZO_API bool adaptive_threads();
MEZZO_API void set_adaptive_threads(bool adapt);

/// Number of compiled steps that a module keeps, 1 or more: one per kind of step, shape of the batch, policy and number
/// of threads. A further one replaces the one that was used longest ago. Default: 64 (MEZZO_PLAN_CACHE). Throws a
/// ValueError if it is below 1.
MEZZO_API int plan_cache_size();
MEZZO_API void set_plan_cache_size(int plans);

/// Number of kernels of eager code that each thread keeps, 1 or more: one per op, attributes and shapes. A further one
/// replaces the one that was used longest ago. Default: 512 (MEZZO_EAGER_CACHE). Throws a ValueError if it is below 1.
MEZZO_API int eager_cache_size();
MEZZO_API void set_eager_cache_size(int kernels);
/// @}

namespace detail {

/// True if the environment variable is set to 0.
MEZZO_API bool turned_off(const char* variable);

}  // namespace detail
}  // namespace mezzo
