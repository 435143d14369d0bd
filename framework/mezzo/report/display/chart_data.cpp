#include <algorithm>
#include <cmath>

#include <mezzo/core/error.hpp>
#include <mezzo/report/display/chart_data.hpp>

namespace mezzo::detail {

void check_history(const History& history, const std::string& where) {
  for (const auto& [name, numbers] : history.history) {
    if (numbers.size() == history.epoch.size()) continue;
    throw ValueError(where + " \"" + name + "\" must have a number for each of " +
                     std::to_string(history.epoch.size()) + " epochs; got " + std::to_string(numbers.size()));
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
  Axis axis{first * step, last * step, {}};
  for (double mark = first; mark <= last; ++mark) axis.marks.push_back(mark * step);
  return axis;
}

Axis epoch_axis(int first, int last) {
  // One epoch is shown in the middle.
  Axis axis{first == last ? first - 1.0 : first, first == last ? last + 1.0 : last, {}};
  const int step = std::max(1, (last - first + 9) / 10);
  for (int mark = first; mark <= last; mark += step) axis.marks.push_back(mark);
  return axis;
}

}  // namespace mezzo::detail
