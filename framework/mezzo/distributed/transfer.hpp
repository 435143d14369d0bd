#pragma once
#include <chrono>
#include <cstddef>

namespace mezzo {

namespace detail {
/// An operation between ranks that ran in the background of a step.
struct Transfer {
  const char* name = "";                          ///< "all_reduce"
  std::chrono::steady_clock::time_point start{};  ///< time when it was passed to the communication thread
  std::chrono::steady_clock::time_point end{};
  std::size_t bytes = 0;  ///< bytes of the rank's numbers
};
}  // namespace detail

}  // namespace mezzo
