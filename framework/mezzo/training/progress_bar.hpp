#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mezzo::detail {

/// `Epoch 1/5: 100% 469/469 [00:12<00:00, 38.21it/s, loss=0.412, val_loss=0.388]`: written over itself on a terminal
/// at most ten times a second, elsewhere one line an epoch.
class ProgressBar {
 public:
  using Numbers = std::vector<std::pair<std::string, double>>;

  /// `total` batches an epoch; `epochs` < 0: without end.
  ProgressBar(bool enabled, std::int64_t total, int epochs);

  void begin(int epoch);

  /// Whether a text written now would be seen: ask before gathering numbers.
  bool due();
  void show(std::int64_t done, const Numbers& numbers);
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
