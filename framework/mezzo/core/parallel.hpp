#pragma once
#include <cstdint>
#include <type_traits>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Number of threads that a parallel loop may use. The threads are libgomp's pool, which oneDNN uses too. Default:
/// OMP_NUM_THREADS, or the number of cores that the process may run on, limited by the quota of its control groups,
/// rounded up.
MEZZO_API int thread_count();

/// Sets the number of threads. Throws a ValueError if it is below 1.
MEZZO_API void set_thread_count(int threads);

namespace detail {

MEZZO_API void parallel(int threads, void (*body)(void* context, int thread, int threads), void* context);

/// See mezzo::parallel_ranges(). Not a template, so that a loop compiles to its body and one call.
MEZZO_API void parallel_ranges(std::int64_t count, std::int64_t grain, int most,
                               void (*body)(void* context, int thread, std::int64_t begin, std::int64_t end),
                               void* context);

/// Number of processors on which libgomp's threads may run: the affinity mask at the start of the process.
MEZZO_API int processors();

/// True if an environment variable (OMP_WAIT_POLICY, or libgomp's own for the number of spins) sets how threads wait.
MEZZO_API bool waiting_is_chosen();

/// Ends the pool of this thread, until its next parallel region. False inside a parallel region.
MEZZO_API bool end_pool();

/// Limits parallel loops of this thread to `threads` threads for its lifetime.
class MEZZO_API ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  const int before_;
};

/// Limits the pool to one thread for its lifetime, so that timings are stable on a busy machine.
class OneThread : public ThreadLimit {
 public:
  OneThread() : ThreadLimit(1) {}
};

}  // namespace detail

/// Calls body(thread, threads) once on each of `threads` threads. The body must not throw.
template <class Body>
void parallel_threads(int threads, Body&& body) {
  using Bare = std::remove_reference_t<Body>;
  detail::parallel(
      threads, [](void* context, int thread, int count) { (*static_cast<Bare*>(context))(thread, count); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// Splits [0, count) into contiguous ranges of nearly equal size, one per thread, at most `most` and at most count /
/// grain, rounded up. Calls body(thread, begin, end) for each; threads count from 0. A single range runs on the
/// caller's thread. The body must not throw.
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t grain, int most, Body&& body) {
  using Bare = std::remove_reference_t<Body>;
  detail::parallel_ranges(
      count, grain, most,
      [](void* context, int thread, std::int64_t begin, std::int64_t end) {
        (*static_cast<Bare*>(context))(thread, begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// parallel_ranges for all threads. Calls body(begin, end).
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
  parallel_ranges(count, grain, thread_count(),
                  [&](int /*thread*/, std::int64_t begin, std::int64_t end) { body(begin, end); });
}

}  // namespace mezzo
