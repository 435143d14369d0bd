#include <mezzo/training/callbacks/throughput_monitor.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {

ThroughputMonitor::ThroughputMonitor(const ThroughputMonitorOptions& options) : options_(options) {
  if (options_.window_size < 2) {
    fail<ValueError>("[ThroughputMonitor]", "window_size must be at least 2; got {}", options_.window_size);
  }
}

void ThroughputMonitor::update(const std::string& stage) {
  Series& entry = stages_[stage];
  Point point = entry.window.empty() ? Point() : entry.window.back();
  point.time = std::chrono::duration<double>(Clock::now() - entry.start).count();
  ++point.batches;
  point.samples += session().batch_size();
  entry.window.push_back(point);
  if (entry.window.size() > static_cast<std::size_t>(options_.window_size)) entry.window.pop_front();
}

Logs ThroughputMonitor::compute(const std::string& stage) const {
  const auto found = stages_.find(stage);
  if (found == stages_.end() || found->second.window.empty()) return {};
  const Point &first = found->second.window.front(), &last = found->second.window.back();
  Logs logs{{stage + "/time", last.time},
            {stage + "/batches", static_cast<double>(last.batches)},
            {stage + "/samples", static_cast<double>(last.samples)}};
  const double seconds = last.time - first.time;
  if (seconds > 0) {
    logs.set(stage + "/device/batches_per_sec", static_cast<double>(last.batches - first.batches) / seconds);
    logs.set(stage + "/device/samples_per_sec", static_cast<double>(last.samples - first.samples) / seconds);
  }
  return logs;
}

std::string ThroughputMonitor::evaluation() const { return session().stage() == Stage::test ? "test" : "validate"; }

void ThroughputMonitor::on_train_begin(Logs&) {
  stages_.clear();
  begin("train");
}

void ThroughputMonitor::on_train_batch_end(std::int64_t, Logs&) {
  update("train");
  if (session().logs_step()) session().log_metrics(compute("train"));
}

void ThroughputMonitor::on_test_begin(Logs&) { begin(evaluation()); }

void ThroughputMonitor::on_test_batch_end(std::int64_t, Logs&) { update(evaluation()); }

void ThroughputMonitor::on_test_end(Logs&) {
  if (session().sanity_checking()) {
    stages_.erase(evaluation());
    return;
  }
  session().log_metrics(compute(evaluation()));
  const auto training = stages_.find("train");
  if (session().stage() != Stage::fit || training == stages_.end()) return;
  Series& entry = training->second;  // its clock goes on where it was after the last training batch
  const double before = entry.window.empty() ? 0 : entry.window.back().time;
  entry.start = Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(before));
}

void ThroughputMonitor::on_predict_begin(Logs&) { begin("predict"); }

void ThroughputMonitor::on_predict_batch_end(std::int64_t, Logs&) { update("predict"); }

void ThroughputMonitor::on_predict_end(Logs&) { session().log_metrics(compute("predict")); }

}  // namespace mezzo
