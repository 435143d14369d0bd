#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <mezzo/core/dtype.hpp>

namespace mezzo_tests {

inline const std::vector<std::string> policy_names{"float32",  "mixed_bfloat16", "mixed_float16",
                                                   "bfloat16", "float16",        "float64"};

inline const std::vector<mezzo::DType> float_dtypes{mezzo::DType::float32, mezzo::DType::float64,
                                                    mezzo::DType::bfloat16, mezzo::DType::float16};

// Number of binary digits of the mantissa, including the implicit one.
inline int digits(mezzo::DType dtype) {
  switch (dtype) {
    case mezzo::DType::float64:
      return 53;
    case mezzo::DType::bfloat16:
      return 8;
    case mezzo::DType::float16:
      return 11;
    default:
      return 24;
  }
}

// The distance from 1 to the next larger number.
inline double epsilon(mezzo::DType dtype) { return std::ldexp(1, 1 - digits(dtype)); }

// The unit in the last place of x.
inline double ulp(mezzo::DType dtype, double x) {
  const int least = dtype == mezzo::DType::float64 ? -1022 : dtype == mezzo::DType::float16 ? -14 : -126;
  const int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  return std::ldexp(1, exponent - digits(dtype) + 1);
}

}  // namespace mezzo_tests
