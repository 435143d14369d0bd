#include <mezzo/training/profilers/simple_profiler.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/training/module/running_actions.hpp>
#include <mezzo/training/profilers/report_file.hpp>

namespace mezzo::profilers {
namespace {

const char* const simple_label = "[profilers::SimpleProfiler]";
using Clock = detail::RunningActions::Clock;

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string number(double x) { return fmt::format("{:.5g}", x); }

}  // namespace

struct SimpleProfiler::State {
  struct Sum {
    std::int64_t calls = 0;
    double total = 0;
    double mean() const { return total / static_cast<double>(calls); }
  };

  explicit State(const SimpleProfilerOptions& given)
      : file(simple_label, given.dirpath, given.filename, ".txt"), extended(given.extended) {}

  detail::ReportFile file;
  bool extended;
  detail::RunningActions running{};
  std::map<std::string, Sum> sums{};
  Clock::time_point first{};  ///< start of the first action of the report
  bool begun = false;         ///< the report has an action

  void add(const detail::RunningActions::Action& ended, Clock::time_point now) {
    Sum& sum = sums[ended.name];
    ++sum.calls;
    sum.total += seconds(now - ended.start);
  }
};

SimpleProfiler::SimpleProfiler(const SimpleProfilerOptions& options) : state_(std::make_shared<State>(options)) {}

void SimpleProfiler::start(const std::string& action) {
  const auto& started = state_->running.start(action);
  if (!std::exchange(state_->begun, true)) state_->first = started.start;
}

void SimpleProfiler::stop(const std::string& action) {
  state_->running.stop(action, simple_label,
                       [&](const auto& ended, Clock::time_point now) { state_->add(ended, now); });
}

std::string SimpleProfiler::summary() const {
  if (state_->sums.empty()) return "Profiler report: no actions\n";
  const double all = seconds(Clock::now() - state_->first);
  std::vector<std::pair<std::string, State::Sum>> sums(state_->sums.begin(), state_->sums.end());
  const bool extended = state_->extended;
  std::stable_sort(sums.begin(), sums.end(), [&](const auto& a, const auto& b) {
    return extended ? a.second.total > b.second.total : a.second.mean() > b.second.mean();
  });
  std::vector<detail::TextColumn> columns{{"Action"}, {"Mean duration (s)", true}};
  if (extended) columns.push_back({"Num calls", true});
  columns.push_back({"Total time (s)", true});
  if (extended) columns.push_back({"Percentage %", true});
  std::vector<std::vector<std::string>> rows;
  std::int64_t calls = 0;
  for (const auto& [name, sum] : sums) {
    calls += sum.calls;
    std::vector<std::string> row{name, number(sum.mean())};
    if (extended) row.push_back(fmt::to_string(sum.calls));
    row.push_back(number(sum.total));
    if (extended) row.push_back(all > 0 ? number(100 * sum.total / all) : "-");
    rows.push_back(std::move(row));
  }
  if (extended) rows.insert(rows.begin(), {"Total", "-", fmt::to_string(calls), number(all), "100"});
  std::string text = "Profiler report\n";
  for (const std::string& line : detail::table_lines(columns, rows)) text += line + "\n";
  return text;
}

void SimpleProfiler::describe() {
  if (state_->running.size() > 1) return;
  state_->running.report([&](const auto& ended, Clock::time_point now) { state_->add(ended, now); });
  const std::string text = summary();
  state_->sums.clear();
  state_->begun = false;
  state_->file.write(text);
}

}  // namespace mezzo::profilers
