#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace mezzo::detail {

/// Levels by which the threads of steps share the machine with other programs. Measurements change the level; the class
/// has no clock of its own.
class ContentionLevels {
 public:
  enum class Level {
    alone,     ///< threads spin while they wait for each other
    yielding,  ///< they sleep early
    reduced    ///< as yielding, with fewer threads
  };

  /// Measured over some steps: their duration in seconds, and, for threads, the time of waiting for a processor as a
  /// share of the time in which they could run.
  struct Measurement {
    double seconds = 0;
    double most_waiting = 0;  ///< share of the thread that waited longest
    double mean_waiting = 0;
  };

  /// Updates the level. `threads` is the number of threads of full steps, `adapts` allows Level::reduced.
  void note(const Measurement& measured, int threads, bool adapts);

  Level level() const { return level_; }

  /// Number of threads of the next steps, if full ones have `threads`.
  int threads(int threads) const { return level_ == Level::reduced && reduced_ < threads ? reduced_ : threads; }

 private:
  void go_to(Level level);

  Level level_ = Level::alone;
  int reduced_ = 1;
  double busy_ = 0;      // seconds of busy measurements in a row
  double time_ = 0;      // seconds of steps at this level; while yielding, since the last long waits
  double away_ = 0;      // seconds of steps since Level::alone
  double patience_ = 0;  // seconds of steps until a lower level is tried
};

/// Measures how long the threads of this thread's steps wait for processors, and applies the level.
class Contention {
 public:
  using Duration = std::chrono::steady_clock::duration;

  static Contention& of_thread();

  Contention() = default;
  ~Contention();
  Contention(const Contention&) = delete;
  Contention& operator=(const Contention&) = delete;

  /// Number of threads of the next step. `adapts` allows fewer than thread_count().
  int threads(bool adapts);

  /// Records a step of that duration. Measures every 50 ms of steps.
  void step_done(Duration time, bool adapts);

  ContentionLevels& levels() { return levels_; }

 private:
  /// Times of a thread, in nanoseconds, since its start.
  struct Times {
    pid_t thread = 0;
    std::uint64_t ran = 0;
    std::uint64_t waited = 0;  // able to run, without a processor
  };
  static Times times_of_thread();
  void measure();  ///< sets now_
  void want_team(bool wanted, int threads);

  ContentionLevels levels_;
  std::vector<Times> before_, now_;
  int measured_ = 0;  // threads in before_; 0: none
  int all_ = 1;       // threads of a full step
  Duration time_{};   // of the steps since the last measurement
  bool wants_ = false;
};

}  // namespace mezzo::detail
