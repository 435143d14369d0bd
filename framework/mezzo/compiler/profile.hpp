#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

namespace mezzo {

/// Where the time of a plan's runs goes: one clock read at each border between two laps. The first run, which also
/// touches memory for the first time, is kept apart; a run that throws isn't counted. Allocates when it is made only.
class Profile {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Profile(std::size_t laps = 0) : current_(laps), total_(laps) {}

  /// A run begins.
  void start();

  /// A lap ends, which began where the one before it ended, or with the run. A lap may have several parts.
  void lap(std::size_t i);

  /// The run is complete.
  void finish();

  /// What the run before took in its caller's eyes, with the preparations for it.
  void count_wall(Clock::duration time);

  /// Runs that are counted.
  std::int64_t runs() const { return runs_ > 0 ? runs_ : 0; }

  /// @name Means over the counted runs, in nanoseconds; 0 if there are none
  /// @{
  double lap_time(std::size_t i) const { return mean(total_[i]); }
  double run_time() const;

  /// That of the caller, or run_time() where none called count_wall().
  double wall_time() const;
  /// @}

  /// What the first run took, in nanoseconds; 0 before it.
  double first_run_time() const { return static_cast<double>(first_); }

 private:
  using Nanoseconds = std::chrono::nanoseconds::rep;
  double mean(Nanoseconds total) const;

  std::vector<Nanoseconds> current_, total_;  // by lap: of this run, of all that are counted
  Clock::time_point last_;
  Nanoseconds first_ = 0, wall_ = 0;
  std::int64_t runs_ = -1;  // the first isn't counted
};

}  // namespace mezzo
