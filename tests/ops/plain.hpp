#pragma once

#include <functional>
#include <numeric>

#include "support/op_row.hpp"

// Ops by plain loops in double: what conformance tests compare with.
namespace mezzo_tests {

inline mezzo::Tensor uniform(const mezzo::Shape& shape, double low, double high, std::uint64_t seed = 1) {
  return random_tensor(shape, mezzo::DType::float64, seed, low, high);
}

// Distinct numbers, at least 0.02 from each other and from 0, in an order that looks random: away from kinks.
inline mezzo::Tensor apart(const mezzo::Shape& shape) {
  mezzo::Tensor x(shape, mezzo::DType::float64);
  const std::int64_t n = x.size();
  std::int64_t stride = n / 2 + 1;
  while (std::gcd(stride, n) != 1) ++stride;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t place = i * stride % n - n / 2;
    x.mutable_data<double>()[i] = 0.04 * static_cast<double>(place) + 0.02;
  }
  return x;
}

inline mezzo::Tensor integers(const mezzo::Shape& shape, mezzo::DType dtype, double low, double high,
                              std::uint64_t seed = 1) {
  return random_tensor(shape, dtype, seed, low, high);
}

inline mezzo::Tensor map(const mezzo::Tensor& x, const std::function<double(double)>& f) {
  mezzo::Tensor out(x.shape(), mezzo::DType::float64);
  const std::vector<double> numbers = x.to_doubles();
  for (std::size_t i = 0; i < numbers.size(); ++i) out.mutable_data<double>()[i] = f(numbers[i]);
  return out;
}

// Calls visit(flat index, index) for all elements of a shape in row-major order.
inline void for_each_index(const mezzo::Shape& shape,
                           const std::function<void(std::size_t, const mezzo::Shape&)>& visit) {
  const auto count = static_cast<std::size_t>(mezzo::element_count(shape));
  mezzo::Shape index(shape.size(), 0);
  for (std::size_t flat = 0; flat < count; ++flat) {
    visit(flat, index);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// The element of x at the end of `index`, where sizes of 1 are stretched.
inline double at(const mezzo::Tensor& x, const mezzo::Shape& index) {
  const mezzo::Shape& shape = x.shape();
  std::int64_t flat = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t i = index[index.size() - shape.size() + axis];
    flat = flat * shape[axis] + (shape[axis] == 1 ? 0 : i);
  }
  return x.data<double>()[flat];
}

inline mezzo::Tensor zip(const mezzo::Tensor& a, const mezzo::Tensor& b,
                         const std::function<double(double, double)>& f) {
  const mezzo::Tensor x = a.cast(mezzo::DType::float64), y = b.cast(mezzo::DType::float64);
  const std::size_t rank = std::max(a.shape().size(), b.shape().size());
  mezzo::Shape shape(rank, 1);
  for (const auto* operand : {&a.shape(), &b.shape()}) {
    for (std::size_t i = 0; i < operand->size(); ++i) {
      auto& size = shape[rank - operand->size() + i];
      if ((*operand)[i] != 1) size = (*operand)[i];
    }
  }
  mezzo::Tensor out(shape, mezzo::DType::float64);
  for_each_index(shape, [&](std::size_t flat, const mezzo::Shape& index) {
    out.mutable_data<double>()[flat] = f(at(x, index), at(y, index));
  });
  return out;
}

// The row with (0, 3) in place of the shape of each operand, except scalars. For rows whose operands have one shape.
inline OpRow without_elements(OpRow row) {
  row.note += (row.note.empty() ? "" : ", ") + std::string("without elements");
  for (Argument& argument : row.arguments) {
    if (!argument.numbers.shape().empty()) argument.numbers = mezzo::Tensor({0, 3}, argument.numbers.dtype());
  }
  return row;
}

}  // namespace mezzo_tests
