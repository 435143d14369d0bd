#pragma once

namespace mezzo {

/// Format of quantized weights. Names are those of Keras' modes.
enum class QuantizationMode {
  none,   ///< not quantized
  int8,   ///< 8-bit integers, one scale for each output
  int4,   ///< 4-bit integers, two a byte, one scale for each output or block of inputs
  nf4,    ///< 4-bit codes of NF4 (Dettmers et al., 2023), a largest magnitude for each block of inputs
  gptq,   ///< int4 with zero points, as Keras stores kernels that GPTQ has quantized
  float8  ///< floats; products round their operands and gradients to 8 bits (Micikevicius et al., 2022)
};

/// Format of the inputs of products with quantized weights.
enum class QuantizedInputs {
  floats,        ///< not quantized: the weights are dequantized
  dynamic_int8,  ///< 8-bit integers with a scale for each row, chosen in each call
  static_int8    ///< 8-bit integers with a scale for each layer, chosen by calibrate()
};

/// Format of the operands of matrix products and convolutions in training.
enum class ProductFormat {
  same,       ///< the compute dtype
  int8,       ///< 8-bit integers, with a scale for each row and column, or image and filter
  int8_tiles  ///< the same, and gradients of dense kernels with a scale for each tile (Xi et al., 2024)
};

}  // namespace mezzo
