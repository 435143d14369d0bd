#include <mezzo/report/display/chart_data.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void check_history(const History& history, const std::string& where) {
  for (const auto& [name, numbers] : history.history) {
    const std::vector<int>& epochs = history.epochs_of(name);
    if (numbers.size() != epochs.size()) {
      fail<ValueError>(where, "\"{}\" must have a number for each of {} epochs; got {}", name, epochs.size(),
                       numbers.size());
    }
  }
}

Axis round_axis(double low, double high) {
  if (high <= low) {
    const double around = low == 0 ? 1 : std::abs(low) / 2;
    low -= around;
    high += around;
  }
  const double rough = (high - low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1}) {
    if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
  }
  const double first = std::floor(low / step + 1e-9);
  const double last = std::ceil(high / step - 1e-9);
  Axis axis{.low = first * step, .high = last * step};
  for (double mark = first; mark <= last; ++mark) axis.marks.push_back(mark * step);
  return axis;
}

Axis epoch_axis(int first, int last) {
  // A single epoch is in the middle of the axis.
  const double margin = first == last ? 1 : 0;
  Axis axis{.low = first - margin, .high = last + margin};
  const int step = std::max(1, (last - first + 9) / 10);
  for (int mark = first; mark <= last; mark += step) axis.marks.push_back(mark);
  return axis;
}

}  // namespace mezzo::detail
