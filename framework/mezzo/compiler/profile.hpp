#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

namespace mezzo {

/// Times of a plan's runs, by lap; the clock is read once at the end of each lap. The first run is recorded separately,
/// since it also touches memory for the first time. A run that throws is not counted. Only the constructor allocates.
class Profile {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Profile(std::size_t laps = 0) : current_(laps), total_(laps) {}

  /// Starts a run.
  void start();

  /// Ends lap i, which began at the end of the lap before it or at the start of the run. Called several times for one
  /// lap, it adds the times.
  void lap(std::size_t i);

  /// Ends a run.
  void finish();

  /// Adds the wall time of the last run as measured by the caller, including its own set-up.
  void count_wall(Clock::duration time);

  /// Number of counted runs, without the first.
  std::int64_t runs() const { return runs_ > 0 ? runs_ : 0; }

  /// @name Means over the counted runs, in nanoseconds; 0 if there are none
  /// @{
  double lap_time(std::size_t i) const { return mean(total_[i]); }
  double run_time() const;

  /// Mean of the times of count_wall(), or run_time() without any.
  double wall_time() const;
  /// @}

  /// @name The last run, the first one too
  /// @{
  Clock::time_point last_start() const { return start_; }
  Clock::duration last_lap(std::size_t i) const { return std::chrono::nanoseconds(current_[i]); }
  /// @}

  /// Time of the first run in nanoseconds; 0 before it.
  double first_run_time() const { return static_cast<double>(first_); }

 private:
  using Nanoseconds = std::chrono::nanoseconds::rep;
  double mean(Nanoseconds total) const;

  std::vector<Nanoseconds> current_, total_;  // by lap: of this run, of all counted runs
  Clock::time_point start_, last_;            // of the run; of the last lap
  Nanoseconds first_ = 0, wall_ = 0;
  std::int64_t runs_ = -1;  // the first is not counted
};

}  // namespace mezzo
