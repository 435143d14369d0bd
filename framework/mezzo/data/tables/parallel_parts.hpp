#pragma once
#include <cstddef>
#include <exception>
#include <vector>

#include <mezzo/core/parallel.hpp>

namespace mezzo::detail {

/// Calls work(i) for i in [0, count) on several threads. Rethrows the exception of the smallest i.
template <class Work>
void parallel_parts(std::size_t count, const Work& work) {
  std::vector<std::exception_ptr> errors(count);
  parallel_for(static_cast<std::int64_t>(count), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace mezzo::detail
