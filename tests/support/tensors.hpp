#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo_tests {

inline const std::vector<mezzo::DType> all_dtypes{
    mezzo::DType::float32, mezzo::DType::float64, mezzo::DType::bfloat16, mezzo::DType::float16, mezzo::DType::int8,
    mezzo::DType::int16,   mezzo::DType::int32,   mezzo::DType::int64,    mezzo::DType::uint8,   mezzo::DType::boolean};

// A tensor of arbitrary bytes, to find kernels that read memory before they write it: NaN in floating dtypes.
inline mezzo::Tensor garbage(const mezzo::Shape& shape, mezzo::DType dtype) {
  mezzo::Tensor tensor = mezzo::Tensor::uninitialized(shape, dtype);
  if (tensor.bytes() > 0) std::memset(tensor.mutable_raw(), dtype == mezzo::DType::boolean ? 1 : 0xff, tensor.bytes());
  return tensor;
}

// A float64 scalar of shape (), like runtime scalars.
inline mezzo::Tensor float64_scalar(double x) { return mezzo::Tensor::scalar(x, mezzo::DType::float64); }

// Numbers in [low, high), the same on each call with the same seed. Rounded down to integers if `integers` is set or
// the dtype has no fractions.
inline mezzo::Tensor random_tensor(const mezzo::Shape& shape, mezzo::DType dtype = mezzo::DType::float32,
                                   std::uint64_t seed = 1, double low = -1, double high = 1, bool integers = false) {
  mezzo::Tensor tensor(shape, dtype);
  const bool whole = integers || !mezzo::is_floating(dtype);
  mezzo::visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = tensor.mutable_data<T>();
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const auto words = mezzo::philox(seed, static_cast<std::uint64_t>(i));
      const double x = low + (high - low) * mezzo::unit_double(words[0], words[1]);
      out[i] = mezzo::convert<T>(whole ? std::floor(x) : x);
    }
  });
  return tensor;
}

// Small integers in that dtype. Their products and sums are exact, so that kernels can be compared for equality.
inline mezzo::Tensor small_integers(const mezzo::Shape& shape, mezzo::DType dtype = mezzo::DType::float32,
                                    std::uint64_t seed = 1) {
  return random_tensor(shape, dtype, seed, mezzo::dtype_name(dtype)[0] == 'u' ? 0 : -4, 5, true);
}

// The largest |a - b| / max(1, |b|). NaN equals NaN. Infinite if the shapes differ, or if only one of two elements is
// NaN or infinite.
inline double largest_difference(const mezzo::Tensor& a, const mezzo::Tensor& b) {
  if (a.shape() != b.shape()) return std::numeric_limits<double>::infinity();
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    const double difference = std::abs(x[i] - y[i]) / std::max(1.0, std::abs(y[i]));
    if (!(difference <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

// <a, b> in double: adjoint pairs of kernels satisfy <f(x), g> = <x, f_gradient(g)>.
inline double dot(const mezzo::Tensor& a, const mezzo::Tensor& b) {
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace mezzo_tests
