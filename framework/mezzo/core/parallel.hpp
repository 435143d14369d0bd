#pragma once
#include <cstdint>
#include <type_traits>

namespace mezzo {

/// Threads that a parallel loop may use: libgomp's pool, the one that oneDNN uses too. At first OMP_NUM_THREADS, or the
/// cores that the process may run on, but no more than its control groups' quota, rounded up.
int thread_count();

/// Caps the pool (1 or more); a ValueError below 1.
void set_thread_count(int threads);

namespace detail {
void parallel(int threads, void (*body)(void* context, int thread, int threads), void* context);
}

/// Calls body(thread, threads) once on each of `threads` threads. The body must not throw.
template <class Body>
void parallel_threads(int threads, Body&& body) {
  using Bare = std::remove_reference_t<Body>;
  detail::parallel(
      threads, [](void* context, int thread, int count) { (*static_cast<Bare*>(context))(thread, count); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// Splits [0, count) into one contiguous range a thread, none smaller than `grain` but for the last, and calls
/// body(begin, end) for each. Runs on the caller's thread when one range is all. The body must not throw.
template <class Body>
void parallel_for(std::int64_t count, std::int64_t grain, Body&& body) {
  if (count <= 0) return;
  const std::int64_t ranges = (count + grain - 1) / grain;
  const auto threads = static_cast<int>(ranges < thread_count() ? ranges : thread_count());
  if (threads <= 1) {
    body(std::int64_t{0}, count);
    return;
  }
  parallel_threads(threads, [&](int thread, int n) {
    const std::int64_t begin = count * thread / n;
    const std::int64_t end = count * (thread + 1) / n;
    if (begin < end) body(begin, end);
  });
}

}  // namespace mezzo
