#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/training/loops/progress_bar.hpp>
#include <mezzo/training/loops/progress_lines.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo::detail {

/// Progress bar of a call: `Epoch 1/5: 100% 469/469 [00:12<00:00, 38.21it/s, loss=0.412, val_loss=0.388]`. On a
/// terminal and with verbose = 1 it overwrites its lines at most ten times a second, cut to the width of the terminal;
/// otherwise it writes one line at the end. Times and rates are those of the batches: without validation and hooks of
/// callbacks at its end.
class BatchBar {
 public:
  /// `total`: batches of an epoch or call; -1: unknown. A ProgressBar among the callbacks replaces `verbose`.
  BatchBar(int verbose, const std::vector<Callback*>& callbacks, std::int64_t total);
  /// Ends the line of a bar that does not leave.
  ~BatchBar();
  BatchBar(const BatchBar&) = delete;
  BatchBar& operator=(const BatchBar&) = delete;

  /// Starts the clock. `first`: batches that were done before, by the run that this one resumes.
  void begin(std::string title, std::int64_t first = 0);

  /// Sets the number of batches of the next epochs.
  void set_total(std::int64_t total) { total_ = total; }

  /// True if show() would write now, after that number of batches. Callers check it before they compute the numbers.
  bool due(std::int64_t done) const;

  /// Writes the line after `done` batches.
  void show(std::int64_t done, const Numbers& numbers);

  /// Writes the line with the progress of the validation after the training, or that of a call of evaluate.
  void show_evaluation(std::int64_t done, std::int64_t total, const Numbers& numbers);

  /// Stops the clock for the lifetime of the object, which is the validation after `done` batches.
  class Rest {
   public:
    Rest(BatchBar& bar, std::int64_t done, const Numbers& numbers) : bar_(bar) {
      bar_.done_ = done;
      bar_.numbers_ = numbers;
      bar_.rest_ = Clock::now();
    }
    ~Rest() {
      bar_.start_ += Clock::now() - *bar_.rest_;
      bar_.rest_.reset();
    }
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;

   private:
    BatchBar& bar_;
  };

  /// Writes the last line, after `done` batches.
  void end(std::int64_t done, const Numbers& numbers);

 private:
  using Clock = std::chrono::steady_clock;

  ProgressState state(const Numbers& numbers) const;
  void draw(const ProgressState& state);

  ProgressBarStyle style_;
  bool enabled_;
  bool terminal_;
  std::int64_t total_;
  std::int64_t first_ = 0, done_ = 0;
  std::string title_;
  Numbers numbers_;  // shown during validation
  Clock::time_point start_, shown_;
  std::optional<Clock::time_point> rest_;
  std::size_t lines_ = 0;  // in the terminal, to be overwritten
};

}  // namespace mezzo::detail
