#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <vector>

#include <mezzo/core/parallel.hpp>

namespace mezzo::detail {

/// Calls work(i, state) for i in [0, count) on several threads, each with a State of its own. A thread that is ready
/// takes the next i. After an exception no further i is taken; that of the smallest i is rethrown.
template <class State, class Work>
void parallel_parts_with(std::size_t count, const Work& work) {
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto threads = std::min(static_cast<std::size_t>(thread_count()), count);
  const auto run = [&](int /*thread*/, int /*threads*/) {
    State state;
    while (!failed) {
      const std::size_t i = next++;
      if (i >= count) break;
      try {
        work(i, state);
      } catch (...) {
        errors[i] = std::current_exception();
        failed = true;
      }
    }
  };
  if (threads > 1) {
    parallel_threads(static_cast<int>(threads), run);
  } else {
    run(0, 1);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// The same without states: work(i).
template <class Work>
void parallel_parts(std::size_t count, const Work& work) {
  struct None {};
  parallel_parts_with<None>(count, [&](std::size_t i, None&) { work(i); });
}

}  // namespace mezzo::detail
