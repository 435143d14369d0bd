#include <mezzo/training/callbacks/device_stats_monitor.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/memory_info.hpp>

namespace mezzo {
namespace {

const char* const stats_label = "[DeviceStatsMonitor]";

double percent_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

double resident_bytes() {
  double size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double load_of_minute() {
  double minute = 0;
  return ::getloadavg(&minute, 1) == 1 ? minute : 0;
}

}  // namespace

DeviceStatsMonitor::DeviceStatsMonitor(DeviceStatsMonitorOptions options) : options_(std::move(options)) {
  for (const std::string& key : options_.filter_keys) {
    if (names().count(key) != 0) continue;
    fail_unknown(stats_label, "filter_keys", key, std::vector<std::string>(names().begin(), names().end()));
  }
}

const std::set<std::string>& DeviceStatsMonitor::names() {
  static const std::set<std::string> all{"cpu_percent", "cpu_vm_percent",      "cpu_swap_percent",
                                         "load_1min",   "process_cpu_percent", "process_resident_bytes"};
  return all;
}

DeviceStatsMonitor::Reading DeviceStatsMonitor::read() {
  Reading out;
  std::ifstream file("/proc/stat");
  std::string cpu;
  file >> cpu;
  // user, nice, system, idle, iowait, irq, softirq, steal; the guests' are part of user
  double ticks = 0;
  for (int field = 0; field < 8 && file >> ticks; ++field) {
    out.total += ticks;
    if (field != 3 && field != 4) out.busy += ticks;
  }
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  constexpr double nanosecond = 1e-9;
  out.process = static_cast<double>(time.tv_sec) + nanosecond * static_cast<double>(time.tv_nsec);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return out;
}

void DeviceStatsMonitor::on_train_begin(Logs&) {
  if (session().loggers().empty()) {
    fail<ValueError>(stats_label, "a Trainer with a logger must run the training; got one without");
  }
  before_ = read();
}

void DeviceStatsMonitor::log_stats(const char* hook) {
  if (session().stage() != Stage::fit || !session().logs_step()) return;
  const Reading now = read();
  const std::map<std::string, std::int64_t> memory = detail::memory_info();
  const auto used = [&](const char* total, const char* free) {
    const auto whole = memory.find(total), rest = memory.find(free);
    if (whole == memory.end() || rest == memory.end()) return 0.0;
    return percent_of(static_cast<double>(whole->second - rest->second), static_cast<double>(whole->second));
  };
  const std::map<std::string, double> all{
      {"cpu_percent", percent_of(now.busy - before_.busy, now.total - before_.total)},
      {"cpu_vm_percent", used("MemTotal", "MemAvailable")},
      {"cpu_swap_percent", used("SwapTotal", "SwapFree")},
      {"load_1min", load_of_minute()},
      {"process_cpu_percent", percent_of(now.process - before_.process, now.seconds - before_.seconds)},
      {"process_resident_bytes", resident_bytes()}};
  before_ = now;
  Logs logs;
  for (const auto& [name, number] : all) {
    if (!options_.filter_keys.empty() && options_.filter_keys.count(name) == 0) continue;
    logs.set(fmt::format("DeviceStatsMonitor.{}/{}", hook, name), number);
  }
  session().log_metrics(logs);
}

void DeviceStatsMonitor::on_train_batch_begin(std::int64_t, Logs&) { log_stats("on_train_batch_start"); }

void DeviceStatsMonitor::on_train_batch_end(std::int64_t, Logs&) { log_stats("on_train_batch_end"); }

void DeviceStatsMonitor::on_test_batch_begin(std::int64_t, Logs&) { log_stats("on_validation_batch_start"); }

void DeviceStatsMonitor::on_test_batch_end(std::int64_t, Logs&) { log_stats("on_validation_batch_end"); }

}  // namespace mezzo
