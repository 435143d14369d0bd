#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Options of fake_quantize_mx().
struct MXOptions {
  /// Format of elements: "mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4_e2m1" or "mxint8".
  std::string format = "mxfp8_e4m3";
};

/// The array rounded to a block format with shared scales (OCP Microscaling Formats v1.0), in its own dtype: x of shape
/// (..., n), blocks of 32 along the last axis, the last of which may be shorter. The scale of a block is the power of
/// two 2^(floor(log2(largest magnitude)) - e) with the exponent e of the format's largest number, at least 2^-127. An
/// element is its quotient with the scale, rounded to nearest even and limited to the format's largest number. A block
/// with a NaN or an infinity becomes NaN.
///
/// A NameError for an unknown format, a DTypeError for a dtype that is not floating, a ShapeError for an array without
/// axes.
MEZZO_API Tensor fake_quantize_mx(const Tensor& x, const MXOptions& options = {});

}  // namespace mezzo
