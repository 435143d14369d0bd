#pragma once
#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Matrix products whose operands are quantized to int8: matmul with the attribute products "int8".
Entries int8_entries();

/// Convolutions whose operands are quantized to int8: conv2d and conv2d_input_gradient with that attribute.
Entries int8_convolution_entries();

/// Gradients of kernels by tiles of codes: tile_matmul.
Entries tile_entries();

/// Products with quantized weights: quantized_matmul.
Entries quantized_entries();

/// Convolutions with quantized kernels: quantized_conv2d.
Entries quantized_convolution_entries();

/// Quantized weights as floats: dequantize.
Entries dequantize_entries();

}  // namespace mezzo::xsimd_kernels
