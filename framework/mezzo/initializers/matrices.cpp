#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/identity.hpp>
#include <mezzo/initializers/orthogonal.hpp>
#include <mezzo/initializers/random_normal.hpp>

namespace mezzo {
namespace {

/// Orthonormalizes `count` columns, each `size` contiguous numbers, by Gram and Schmidt's method, twice for columns
/// that nearly depend on others. Its R has a positive diagonal, so Q is the unique factor with these signs.
void orthonormalize(double* columns, std::int64_t size, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) {
    double* column = columns + j * size;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t k = 0; k < j; ++k) {
        const double* other = columns + k * size;
        double product = 0;
        for (std::int64_t i = 0; i < size; ++i) product += column[i] * other[i];
        for (std::int64_t i = 0; i < size; ++i) column[i] -= product * other[i];
      }
    }
    double square = 0;
    for (std::int64_t i = 0; i < size; ++i) square += column[i] * column[i];
    const double length = std::sqrt(square);
    for (std::int64_t i = 0; i < size; ++i) column[i] /= length;
  }
}

}  // namespace

Tensor IdentityInitializer::make(const Shape& shape, DType dtype, std::uint64_t) const {
  check_not_moved();
  if (shape.size() != 2) fail<ShapeError>("[Identity]", "the weight must be a matrix; got shape {}", shape);
  Tensor out(shape, DType::float64);
  double* elements = out.mutable_data<double>();
  for (std::int64_t i = 0; i < std::min(shape[0], shape[1]); ++i) elements[i * shape[1] + i] = gain_;
  return out.cast(dtype);
}

Tensor Orthogonal::make(const Shape& shape, DType dtype, std::uint64_t key) const {
  check_not_moved();
  if (shape.size() < 2) {
    fail<ShapeError>("[Orthogonal]", "the weight must have two axes or more; got shape {}", shape);
  }
  const std::int64_t columns = shape.back(), rows = element_count(Shape(shape.begin(), shape.end() - 1));
  const std::int64_t size = std::max(rows, columns), count = std::min(rows, columns);
  Tensor numbers =
      RandomNormal({.mean = 0, .stddev = 1, .seed = options_.seed}).make({count, size}, DType::float64, key);
  double* vectors = numbers.mutable_data<double>();
  orthonormalize(vectors, size, count);
  Tensor out = Tensor::uninitialized(shape, DType::float64);
  double* elements = out.mutable_data<double>();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      elements[i * columns + j] = options_.gain * (rows >= columns ? vectors[j * size + i] : vectors[i * size + j]);
    }
  }
  return out.cast(dtype);
}

}  // namespace mezzo
