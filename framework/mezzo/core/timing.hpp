#pragma once
#include <optional>
#include <vector>

namespace mezzo::detail {

/// Timing of trials that are compared: steps under several policies, products in several dtypes. The trials take turns
/// in rounds, so that a temporary load of the machine affects all of them.
constexpr int timing_rounds = 5;

/// Calls take(trial, round) for each trial in turns. Trials whose last round took more than `short_seconds`, their
/// member `taken`, don't take part in the next one.
template <class Trials, class Take>
void in_turns(Trials& trials, int rounds, double short_seconds, const Take& take) {
  for (int round = 0; round < rounds; ++round) {
    for (auto& trial : trials) {
      if (trial.taken <= short_seconds) take(trial, round);
    }
  }
}

/// The median; the mean of the two in the middle if their number is even, infinity if there are none.
double median(std::vector<double> numbers);

/// The median or the smallest of times in the order of the measurement. None if the number is not reproducible: if the
/// first and the second half of the times differ in it by more than a tenth, or for a single time.
std::optional<double> agreed_median(const std::vector<double>& seconds);
std::optional<double> agreed_shortest(const std::vector<double>& seconds);

}  // namespace mezzo::detail
