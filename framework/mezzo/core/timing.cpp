#include <mezzo/core/timing.hpp>

#include <algorithm>
#include <limits>

namespace mezzo::detail {
namespace {

template <class Figure>
std::optional<double> agreed(const std::vector<double>& seconds, const Figure& figure) {
  constexpr double agreement = 0.1;
  if (seconds.size() < 2) return {};
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  const auto [less, more] = std::minmax({figure({seconds.begin(), middle}), figure({middle, seconds.end()})});
  if (!(more - less <= agreement * more)) return {};
  return figure(seconds);
}

}  // namespace

double median(std::vector<double> numbers) {
  if (numbers.empty()) return std::numeric_limits<double>::infinity();
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

std::optional<double> agreed_median(const std::vector<double>& seconds) { return agreed(seconds, median); }

std::optional<double> agreed_shortest(const std::vector<double>& seconds) {
  return agreed(seconds, [](const std::vector<double>& all) { return *std::min_element(all.begin(), all.end()); });
}

}  // namespace mezzo::detail
