#pragma once

namespace mezzo {

/// Format of quantized weights. Names are those of Keras' modes.
enum class QuantizationMode {
  none,    ///< not quantized
  int8,    ///< 8-bit integers, one scale for each output
  int4,    ///< 4-bit integers, two a byte, one scale for each output or block of inputs
  float8,  ///< products of float8 numbers with delayed scales, computed in float32
  gptq     ///< integers of 2 to 8 bits by GPTQ (Frantar et al., 2022)
};

/// Format of the operands of matrix products in training.
enum class ProductFormat {
  same,  ///< the compute dtype
  int8   ///< 8-bit integers, with a scale for each row and column
};

}  // namespace mezzo
