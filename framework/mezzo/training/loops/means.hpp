#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/module.hpp>
#include <mezzo/training/step_context.hpp>

namespace mezzo::detail {

/// Sets a number of logs.
inline void set_log(Logs& logs, const std::string& name, double number) { logs.set(name, number); }

/// A number of logs, if they have it.
inline std::optional<double> find_log(const Logs& logs, const std::string& name) {
  return logs.count(name) == 0 ? std::optional<double>() : logs.at(name);
}

/// Numbers with their names, in the order in which they appear in the progress bar.
using Numbers = std::vector<std::pair<std::string, double>>;

/// Numbers of an epoch or evaluation by name: means over the samples of the values that steps log, in double, and the
/// results of their metrics. Skipped steps don't count.
class Means {
 public:
  struct Entry {
    std::string name;
    bool prog_bar = false;
    double total = 0;
    double samples = 0;
    Any<Metric> metric{};  ///< its result is the number

    /// NaN if every step was skipped.
    double mean() const {
      if (!(samples > 0)) return std::numeric_limits<double>::quiet_NaN();
      return metric ? metric->result().item() : total / samples;
    }
  };

  Means() = default;
  explicit Means(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  /// Adds the numbers of the last step of a StepRunner.
  template <class Runner>
  void add(const Runner& runner, std::int64_t samples) {
    const std::vector<Logged>& logged = runner.logged();
    for (std::size_t i = 0; i < logged.size(); ++i) {
      Entry& entry = entry_of(logged[i], i);
      if (runner.skipped()) continue;
      if (!entry.metric) entry.total += runner.value(i) * static_cast<double>(samples);
      entry.samples += static_cast<double>(samples);
    }
  }

  /// Means of all names, or of those for the progress bar.
  Numbers numbers(bool prog_bar_only) const {
    Numbers out;
    for (const Entry& entry : entries_) {
      if (entry.prog_bar || !prog_bar_only) out.emplace_back(entry.name, entry.mean());
    }
    return out;
  }

  /// Writes the means of all names. Allocates nothing once `logs` has the names.
  void write(Logs& logs) const {
    for (const Entry& entry : entries_) set_log(logs, entry.name, entry.mean());
  }

  bool has(const std::string& name) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  /// Entry of a name. Steps usually log the same names in the same order, so index `likely` is tried first.
  Entry& entry_of(const Logged& logged, std::size_t likely) {
    const auto same = [&](const Entry& entry) { return entry.name == logged.name; };
    if (likely >= entries_.size() || !same(entries_[likely])) {
      const auto found = std::find_if(entries_.begin(), entries_.end(), same);
      likely = static_cast<std::size_t>(found - entries_.begin());
    }
    if (likely == entries_.size()) entries_.push_back({.name = logged.name, .prog_bar = logged.prog_bar});
    entries_[likely].metric = logged.metric;  // entries of a resumed epoch have none yet
    return entries_[likely];
  }

  std::vector<Entry> entries_;
};

}  // namespace mezzo::detail
