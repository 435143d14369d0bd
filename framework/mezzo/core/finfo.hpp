#pragma once
#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// What a floating dtype can hold, under numpy's and torch's names. Each number is exact.
struct FInfo {
  DType dtype = DType::float32;
  int bits = 0;                   ///< of an element
  int digits = 0;                 ///< decimal ones that survive a round trip: floor(-log10(eps)), numpy's `precision`
  double eps = 0;                 ///< from 1 to the next larger number
  double max = 0;                 ///< the largest finite number
  double min = 0;                 ///< -max
  double smallest_normal = 0;     ///< the smallest positive one with full precision; numpy's and torch's `tiny`
  double smallest_subnormal = 0;  ///< the smallest positive one
  double resolution = 0;          ///< 10^-digits
};

/// Of float16, bfloat16, float32 or float64: `finfo(DType::bfloat16).eps == 0.0078125`. A DTypeError for others.
FInfo finfo(DType dtype);

}  // namespace mezzo
