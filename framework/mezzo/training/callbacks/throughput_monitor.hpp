#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct ThroughputMonitorOptions {
  int window_size = 100;  ///< latest batches over which rates are taken, at least 2
};

/// Measures batches and samples per second, and sends them to the loggers of a Trainer: of training at the steps whose
/// numbers they receive, of evaluations at their end. Names are those of Lightning: `train/time` (seconds),
/// `train/batches`, `train/samples`, `train/device/batches_per_sec`, `train/device/samples_per_sec`, and the same for
/// "validate", "test" and "predict". The time of validations isn't counted as training. Rates exist from the second
/// batch on.
class MEZZO_API ThroughputMonitor : public Callback {
 public:
  /// A ValueError for a smaller window.
  explicit ThroughputMonitor(const ThroughputMonitorOptions& options = {});

  /// Numbers of a stage of the last call: "train", "validate", "test" or "predict". Empty if it had no batches.
  Logs compute(const std::string& stage = "train") const;

  void on_train_begin(Logs& logs) override;
  bool on_all_ranks() const override { return false; }
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_test_begin(Logs& logs) override;
  void on_test_batch_end(std::int64_t batch, Logs& logs) override;
  void on_test_end(Logs& logs) override;
  void on_predict_begin(Logs& logs) override;
  void on_predict_batch_end(std::int64_t batch, Logs& logs) override;
  void on_predict_end(Logs& logs) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Point {
    double time = 0;
    std::int64_t batches = 0, samples = 0;
  };
  struct Series {
    Clock::time_point start;
    std::deque<Point> window;
  };
  /// Stage of the on_test hooks.
  std::string evaluation() const;
  void begin(const std::string& stage) { stages_[stage] = {Clock::now(), {}}; }
  void update(const std::string& stage);

  ThroughputMonitorOptions options_;
  std::map<std::string, Series> stages_;
};

}  // namespace mezzo
