#pragma once
#include <algorithm>
#include <vector>

namespace mezzo_bench {

/// The upper one of two middle numbers. There must be one at least.
inline double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

}  // namespace mezzo_bench
