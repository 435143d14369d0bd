#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/step_runner.hpp>

namespace mezzo::detail {

/// Numbers of an epoch or evaluation by name: means over the samples of the values that steps log, in double, and the
/// results of their metrics. Skipped steps don't count.
class Means {
 public:
  /// Adds what the runner's last step logged.
  void add(const StepRunner& runner, std::int64_t samples);

  /// All numbers, or those for the progress bar. NaN if every step was skipped.
  std::vector<std::pair<std::string, double>> numbers(bool prog_bar_only) const;

  bool has(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    bool prog_bar = false;
    Any<Metric> metric{};
    double total = 0;
    double samples = 0;
  };

  /// Entry of a name. Steps usually log the same names in the same order, so index `likely` is tried first.
  Entry& entry_of(const Logged& logged, std::size_t likely);

  std::vector<Entry> entries_;
};

}  // namespace mezzo::detail
