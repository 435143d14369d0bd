#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/module/logs.hpp>
#include <mezzo/training/step/logged.hpp>

namespace mezzo::detail {

/// Sets a number of logs.
inline void set_log(Logs& logs, const std::string& name, double number) { logs.set(name, number); }

/// A number of logs, if they have it.
inline std::optional<double> find_log(const Logs& logs, const std::string& name) {
  return logs.count(name) == 0 ? std::optional<double>() : logs.at(name);
}

/// Numbers with their names, in the order in which they appear in the progress bar.
using Numbers = std::vector<std::pair<std::string, double>>;

/// Adds those whose names are not there.
void add_missing(Numbers& numbers, const Numbers& others);

/// Numbers of an epoch or evaluation by name: reductions over the values that steps log, in double, and the results of
/// their metrics. Of steps that loss scaling skips, finite values count, and updates of metrics don't.
class Means {
 public:
  struct Entry {
    std::string name;
    LogTargets targets{};
    double total = 0;  ///< weighted sum, sum, least or largest value
    double samples = 0;
    Any<Metric> metric{};  ///< its result is the number
    double last = 0;       ///< value of the last step
    bool closed = false;   ///< true if the loader of the number has ended
    bool of_hook = false;  ///< true for the last number that a hook has logged

    /// NaN if no step has counted.
    double number() const;

    void add(double value, double count);
  };

  Means() = default;
  explicit Means(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  /// Adds the numbers of the last step of a StepRunner. `suffix` follows the names that add_dataloader_idx.
  template <class Runner>
  void add(const Runner& runner, std::int64_t samples, const std::string& suffix = {}) {
    const std::vector<Logged>& logged = runner.logged();
    for (std::size_t i = 0; i < logged.size(); ++i) {
      Entry& entry = entry_of(logged[i], i, suffix);
      const bool shown = entry.metric && entry.targets.prog_bar && !entry.targets.history;  // of the batch, in the bar
      const double value =
          shown ? runner.batch_result(entry.metric).value_or(entry.last) : (entry.metric ? 0 : runner.value(i));
      if (runner.skipped() && (entry.metric || !std::isfinite(value))) continue;
      entry.add(value, static_cast<double>(samples));
    }
  }

  /// Sets a number that a hook logs. A NameError if steps log the name.
  void set(const std::string& name, double number);

  /// Numbers of the names that History and callbacks get.
  Numbers for_history() const;

  /// Numbers for the progress bar: of single steps for those that aren't numbers of the epoch.
  Numbers for_bar() const;

  /// Numbers of the last step, of the running loader, and of the epoch, for loggers.
  /// `key` returns the names that History has; without it they stay. "_step" and "_epoch" precede
  /// "/dataloader_idx_<i>".
  using Key = std::function<std::string(const std::string& name)>;
  /// Gives the result of a metric for the last batch; none for a skipped step.
  using BatchResult = std::function<std::optional<double>(const Any<Metric>& metric)>;
  Logs for_loggers_by_step(const BatchResult& batch_result, const Key& key = {}) const;
  Logs for_loggers_by_epoch(const Key& key = {}) const;

  /// Writes the numbers that History gets. Allocates nothing once `logs` has the names.
  void write(Logs& logs) const {
    for (const Entry& entry : entries_) {
      if (entry.targets.history) logs.set(entry.name, entry.number());
    }
  }

  /// Writes the values of the last step, except of metrics. Allocates nothing once `logs` has the names.
  void write_last(Logs& logs) const {
    for (const Entry& entry : entries_) {
      if (!entry.metric && !entry.of_hook) logs.set(entry.name, entry.last);
    }
  }

  /// Closes the numbers of a loader, before that of the next one. Keeps the results of metrics, which are then reset.
  void end_loader();

  bool has(const std::string& name) const;

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  /// Entry of a name. Steps usually log the same names in the same order, so index `likely` is tried first.
  Entry& entry_of(const Logged& logged, std::size_t likely, const std::string& suffix);

  std::vector<Entry> entries_;
};

}  // namespace mezzo::detail
