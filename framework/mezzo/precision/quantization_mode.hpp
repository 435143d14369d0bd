#pragma once

namespace mezzo {

/// Format of quantized weights. Names are those of Keras' modes.
enum class QuantizationMode {
  none,  ///< not quantized
  int8,  ///< 8-bit integers, one scale for each output
  int4   ///< 4-bit integers, two a byte, one scale for each output or block of inputs
};

/// Format of the inputs of products with quantized weights.
enum class QuantizedInputs {
  floats,        ///< not quantized: the weights are dequantized
  dynamic_int8,  ///< 8-bit integers with a scale for each row, chosen in each call
  static_int8    ///< 8-bit integers with a scale for each layer, chosen by calibrate()
};

/// Format of the operands of matrix products in training.
enum class ProductFormat {
  same,  ///< the compute dtype
  int8   ///< 8-bit integers, with a scale for each row and column
};

}  // namespace mezzo
