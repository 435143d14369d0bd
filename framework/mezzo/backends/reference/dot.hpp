#pragma once
#include <cstdint>

namespace mezzo::reference {

/// Sum of the products of two rows, in double.
template <class T>
double dot(const T* a, const T* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace mezzo::reference
