#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mezzo::detail {

/// Progress bar: `Epoch 1/5: 100% 469/469 [00:12<00:00, 38.21it/s, loss=0.412, val_loss=0.388]`. On a terminal it
/// overwrites its line at most ten times a second; elsewhere it writes one line per epoch.
class ProgressBar {
 public:
  using Numbers = std::vector<std::pair<std::string, double>>;

  /// `total`: batches per epoch. `epochs` < 0: no limit.
  ProgressBar(bool enabled, std::int64_t total, int epochs);

  /// Starts the clock of an epoch.
  void begin(int epoch);

  /// True if show() would write now. Callers check it before they compute the numbers.
  bool due();

  /// Writes the line after `done` batches.
  void show(std::int64_t done, const Numbers& numbers);

  /// Writes the last line of the epoch.
  void end(std::int64_t done, const Numbers& numbers);

 private:
  std::string line(std::int64_t done, const Numbers& numbers) const;

  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool terminal_;
  std::int64_t total_;
  int epochs_;
  int epoch_ = 0;
  Clock::time_point start_, shown_;
};

}  // namespace mezzo::detail
