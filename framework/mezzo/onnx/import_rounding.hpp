#pragma once
#include <mezzo/onnx/import_call.hpp>

namespace mezzo::detail {

/// Scales, or zero points, of an array that is held as small integers.
struct OnnxScales {
  std::int64_t axis = 0;   ///< of the array: the one along which numbers differ
  std::int64_t block = 0;  ///< elements along the axis that share a number; 0: one for each element
};

/// Reads the attributes axis and block_size for scales in input `input`. A ValueError if these don't fit input 0.
OnnxScales onnx_scales(OnnxCall& call, std::size_t input);

/// Numbers of an input as float32, in a shape that broadcasts to input 0.
Value spread_numbers(const OnnxCall& call, const OnnxScales& scales, std::size_t input);

/// x rounded to the nearest number, halves to even ones, plus the zero point, limited to the dtype.
Value rounded_to(const OnnxCall& call, const Value& x, const Value& zero_point, DType dtype);

}  // namespace mezzo::detail
