#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace mezzo::detail {

/// State of the schedulers of an optimizer, of which one is active.
struct SchedulerState {
  std::size_t active = 0;          ///< its place in the list
  std::int64_t steps = 0;          ///< steps of the scheduler
  std::optional<double> number{};  ///< last one that a Plateau monitors
  std::optional<double> best{};    ///< best number that a Plateau has seen
  std::int64_t waits = 0;          ///< its numbers without improvement since then, or since the last reduction
  std::int64_t cooldown = 0;       ///< its numbers that are not counted from now on
  bool waiting = false;            ///< a step of a Plateau is due before the next batch
};

}  // namespace mezzo::detail
