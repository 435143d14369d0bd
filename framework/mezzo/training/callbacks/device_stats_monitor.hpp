#pragma once
#include <cstdint>
#include <set>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct DeviceStatsMonitorOptions {
  /// Names of DeviceStatsMonitor::names() to log; {}: all.
  std::set<std::string> filter_keys{};
};

/// Sends numbers of the machine to the loggers of a Trainer in fit, before and after the batches whose numbers they
/// receive: `DeviceStatsMonitor.on_train_batch_start/cpu_percent`. They are read from /proc:
///
/// - `cpu_percent`: use of all processors since the reading before, in percent
/// - `cpu_vm_percent`, `cpu_swap_percent`: memory and swap in use by all processes, in percent
/// - `load_1min`: processes that run or wait for a processor, mean of a minute
/// - `process_cpu_percent`: use of processors by this process since the reading before; 100 is one processor
/// - `process_resident_bytes`: memory of this process
class MEZZO_API DeviceStatsMonitor : public Callback {
 public:
  /// A NameError for an unknown key.
  explicit DeviceStatsMonitor(DeviceStatsMonitorOptions options = {});

  /// Names of all numbers.
  static const std::set<std::string>& names();

  /// A ValueError without a logger.
  void on_train_begin(Logs& logs) override;
  bool on_all_ranks() const override { return false; }
  void on_train_batch_begin(std::int64_t batch, Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_test_batch_begin(std::int64_t batch, Logs& logs) override;
  void on_test_batch_end(std::int64_t batch, Logs& logs) override;

 private:
  void log_stats(const char* hook);

  /// Counters of the reading before.
  struct Reading {
    double busy = 0, total = 0;       // of all processors, in ticks
    double process = 0, seconds = 0;  // of this process and of the clock
  };
  static Reading read();

  DeviceStatsMonitorOptions options_;
  Reading before_;
};

}  // namespace mezzo
