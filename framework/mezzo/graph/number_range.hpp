#pragma once
// Range of the C++ numbers (weak Values) beside operands of a dtype.
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Finite numbers of a dtype, from `least` to `most`.
struct NumberRange {
  double least, most;
};
NumberRange number_range(DType dtype);

/// 1 if the number is above all numbers of the dtype, -1 if it is below them, else 0. Rounding to a finite number is
/// within the range, and so are infinities and NaN of floats. Any number fits in a bool.
int beyond(double number, DType dtype);

/// A C++ number as an operand of that dtype. Throws a ValueError that names both if it is beyond the dtype's range.
Tensor number_as(const Tensor& number, DType dtype, const std::string& where);

}  // namespace mezzo::detail
