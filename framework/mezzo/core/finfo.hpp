#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// Properties of a floating dtype, with the names of numpy and torch. All numbers are exact.
struct FInfo {
  DType dtype = DType::float32;   ///< the described dtype
  int bits = 0;                   ///< bits of an element
  int digits = 0;                 ///< decimal digits kept in a round trip: floor(-log10(eps)); numpy's `precision`
  double eps = 0;                 ///< distance from 1 to the next larger number
  double max = 0;                 ///< largest finite number
  double min = 0;                 ///< -max
  double smallest_normal = 0;     ///< smallest positive number with full precision; `tiny` in numpy and torch
  double smallest_subnormal = 0;  ///< smallest positive number
  double resolution = 0;          ///< 10^-digits
};

/// Properties of a floating or float8 dtype: `finfo(DType::bfloat16).eps == 0.0078125`. Throws a DTypeError for other
/// dtypes.
MEZZO_API FInfo finfo(DType dtype);

}  // namespace mezzo
