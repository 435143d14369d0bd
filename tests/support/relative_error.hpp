#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo_tests {

inline double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// |a - b| / |b|, as vectors.
inline double relative_error(const mezzo::Tensor& a, const mezzo::Tensor& b) {
  std::vector<double> difference = a.to_doubles();
  const std::vector<double> exact = b.to_doubles();
  for (std::size_t i = 0; i < exact.size(); ++i) difference[i] -= exact[i];
  return norm(difference) / norm(exact);
}

}  // namespace mezzo_tests
