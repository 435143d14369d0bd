#include <mezzo/training/profilers/chrome_profiler.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/module/running_actions.hpp>
#include <mezzo/training/profilers/plan_text.hpp>
#include <mezzo/training/profilers/report_file.hpp>
#include <nlohmann/json.hpp>

namespace mezzo::profilers {
namespace {

const char* const chrome_label = "[profilers::ChromeProfiler]";
const std::string list_end = "\n]\n";
constexpr std::size_t largest_buffer = std::size_t{1} << 16;
using Clock = detail::RunningActions::Clock;

enum class Track { actions = 1, kernels = 2, communication = 3 };

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

struct ChromeProfiler::State {
  explicit State(const ChromeProfilerOptions& given)
      : file(chrome_label, given.dirpath, given.filename, ".json"), max_events(given.max_events) {}

  detail::ReportFile file;
  std::int64_t max_events;
  detail::RunningActions running{};
  std::optional<Clock::time_point> origin{};  ///< time 0
  Clock::time_point last_step{};              ///< whose kernels are in the file
  std::string buffer{};
  std::int64_t events = 0;    ///< that are written, with the ends of running actions
  std::int64_t left_out = 0;  ///< actions, since the last warning
  bool ended = false;         ///< the file has the end of the list
  bool communicates = false;  ///< the file has the track of communication

  void flush() {
    if (buffer.empty()) return;
    if (std::exchange(ended, false)) file.drop(list_end.size());
    file.write(std::exchange(buffer, {}));
  }

  /// Begins the list with the names of the tracks.
  void begin_list(Clock::time_point time) {
    origin = time;
    buffer = R"([
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"actions"}},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"kernels"}})";
  }

  void add(const std::string& event) { buffer += ",\n" + event; }

  double microseconds(Clock::time_point time) const {
    return std::chrono::duration<double, std::micro>(time - *origin).count();
  }

  void begin(Track track, const std::string& name, Clock::time_point time, const std::string& arguments = {}) {
    if (!origin) begin_list(time);
    add(fmt::format(R"({{"name":{},"ph":"B","pid":1,"tid":{},"ts":{:.3f}{}}})", quoted(name), static_cast<int>(track),
                    microseconds(time), arguments));
  }

  /// Adds transfers, which run one after the other.
  void add_transfers(const std::vector<detail::Transfer>& transfers) {
    if (transfers.empty() || !take(2 * static_cast<std::int64_t>(transfers.size()))) return;
    if (!std::exchange(communicates, true)) {
      add(R"({"name":"thread_name","ph":"M","pid":1,"tid":3,"args":{"name":"communication"}})");
    }
    Clock::time_point free = transfers.front().start;
    for (const detail::Transfer& transfer : transfers) {
      begin(Track::communication, transfer.name, std::max(transfer.start, free),
            fmt::format(R"(,"args":{{"bytes":{}}})", transfer.bytes));
      free = transfer.end;
      end(Track::communication, free);
    }
  }

  void end(Track track, Clock::time_point time) {
    add(fmt::format(R"({{"ph":"E","pid":1,"tid":{},"ts":{:.3f}}})", static_cast<int>(track), microseconds(time)));
  }

  /// Counts the events, if there is room for them.
  bool take(std::int64_t count) {
    if (events + count > max_events) return false;
    events += count;
    return true;
  }
};

ChromeProfiler::ChromeProfiler(const ChromeProfilerOptions& options) : state_(std::make_shared<State>(options)) {
  if (options.filename.empty()) fail<ValueError>(chrome_label, "filename must not be empty");
  if (options.max_events < 2) {
    fail<ValueError>(chrome_label, "max_events must be 2 or more; got {}", options.max_events);
  }
}

void ChromeProfiler::start(const std::string& action) {
  if (state_->buffer.size() > largest_buffer) state_->flush();
  auto& started = state_->running.start(action);
  started.shown = state_->take(2);
  if (started.shown) {
    state_->begin(Track::actions, action, started.start);
  } else {
    ++state_->left_out;
  }
}

void ChromeProfiler::stop(const std::string& action) {
  state_->running.stop(action, chrome_label,
                       [&](const auto&, Clock::time_point now) { state_->end(Track::actions, now); });
}

void ChromeProfiler::on_epoch_end(Module& module, int epoch) {
  const auto& run = module.run_state();
  if (!run || !run->last_plan) return;
  const detail::Plan& plan = *run->last_plan;
  const Profile& profile = plan.profile();
  Clock::time_point time = profile.last_start();
  // The step may be older than the file, or in it already.
  if (!state_->origin || time <= state_->last_step || time < *state_->origin) return;
  state_->last_step = time;
  const std::vector<detail::Plan::Row> rows = plan.rows();
  const std::vector<std::size_t> laps = plan.lap_order();
  if (!state_->take(2 * static_cast<std::int64_t>(laps.size()) + 2)) {
    ++state_->left_out;
    return;
  }
  state_->begin(Track::kernels, fmt::format("last step of epoch {}", epoch + 1), time);
  for (const std::size_t lap : laps) {
    if (lap < rows.size()) {
      const detail::Plan::Row& row = rows[lap];
      state_->begin(
          Track::kernels, row.op, time,
          fmt::format(R"(,"args":{{"layer":{},"kernel":{},"outputs":{}}})", quoted(row.path),
                      quoted(row.detail.empty() ? row.kernel : row.kernel + ":" + row.detail), quoted(row.outputs)));
    } else {
      state_->begin(Track::kernels, detail::chore_names[lap - rows.size()], time);
    }
    time += profile.last_lap(lap);
    state_->end(Track::kernels, time);
  }
  state_->end(Track::kernels, time);
  state_->add_transfers(run->transfers);
}

void ChromeProfiler::describe() {
  if (state_->running.size() > 1 || !state_->origin) return;
  state_->running.report([&](const auto&, Clock::time_point now) { state_->end(Track::actions, now); });
  state_->flush();
  if (!std::exchange(state_->ended, true)) state_->file.write(list_end);
  if (state_->left_out == 0) return;
  detail::warn(fmt::format("{} \"{}\" has {} events, the first ones; max_events left out {} later actions",
                           chrome_label, state_->file.path(), state_->events, std::exchange(state_->left_out, 0)));
}

}  // namespace mezzo::profilers
