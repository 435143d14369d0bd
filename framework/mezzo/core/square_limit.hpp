#pragma once
#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// Bound: numbers below it in magnitude have finite squares in the dtype in which elements of `dtype` are summed.
inline double largest_square_root(DType dtype) { return dtype == DType::float64 ? 0x1p512 : 0x1p64; }

}  // namespace mezzo
