#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/graph/variable_state.hpp>
#include <mezzo/precision/quantized_form.hpp>

namespace mezzo::detail {

/// Sizes of a weight as a matrix.
struct MatrixSizes {
  std::int64_t rows, columns;
};

/// Rows and columns of a weight: the numbers in their order as (product of the sizes that a product sums over, product
/// of the other sizes); of a look-up table as (rows of the table, size of a row).
MEZZO_API MatrixSizes matrix_sizes(const Shape& shape, const QuantizableAxes& axes);

/// Codes and scales of a quantized variable. Its `value` holds the codes:
///
/// - int8: an int8 array of the weight's shape, codes in [-127, 127];
/// - int4 and gptq: an int8 array of (rows, (columns + 1) / 2), two codes in [-8, 7] a byte: column 2 j in the low half
/// of byte
///   j, column 2 j + 1 in the high half, 0 in the last high half of an odd number of columns. Rows and columns are
///   those of matrix();
/// - nf4: the same with codes in [0, 15], positions in nf4_values.
///
/// Without a zero point, scale = limit / (absmax + 1e-7) multiplies on quantization, with the limits 127 and 7:
/// code = clip(rint(x * scale)), and x is read as code / scale. With a zero point, code = clip(rint(x / scale) + zero),
/// and x is read as (code - zero) * scale. rint rounds half to even. Both are Keras' formulas, computed in float32.
/// nf4: scale = absmax of the block, the code is that of nf4_encode(), and x is read as nf4_values[code] * scale.
struct MEZZO_API Quantization {
  QuantizedForm form;
  Shape shape;           ///< shape of the weight
  QuantizableAxes axes;  ///< axes of the weight that share a scale

  /// Scales, float32. int8: of the axes that `axes` leaves, in their order. Packed: (columns,), with blocks
  /// (blocks, columns); of a look-up table (rows,), with blocks (rows, blocks).
  Shared<VariableState> scale{std::shared_ptr<VariableState>()};
  /// Zero points, int8, of the shape of `scale`; null unless form.has_zero().
  Shared<VariableState> zero{std::shared_ptr<VariableState>()};
  /// Scale of the activations, float32 of shape (), 0 before calibration; null unless inputs are static.
  Shared<VariableState> inputs_scale{std::shared_ptr<VariableState>()};

  bool nf4() const { return form.mode == QuantizationMode::nf4; }
  bool gptq() const { return form.mode == QuantizationMode::gptq; }
  /// True for int4, gptq and nf4: two codes a byte.
  bool packed() const { return form.mode == QuantizationMode::int4 || gptq() || nf4(); }
  std::int64_t bits() const { return packed() ? 4 : 8; }

  /// The weight as a matrix, by matrix_sizes(). Packed codes have its layout, as in Keras.
  MatrixSizes matrix() const { return matrix_sizes(shape, axes); }

  /// Inputs that share a scale, -1: all. All inputs of gptq are one block, since its codes have zero points.
  std::int64_t block() const {
    return gptq() && form.block_size < 0 ? std::max<std::int64_t>(matrix().rows, 1) : form.block_size;
  }

  /// int8 codes in the weight's shape.
  Tensor codes(const Tensor& stored) const;
  /// Codes as they are stored. A ValueError for codes out of range.
  Tensor stored(const Tensor& codes, const std::string& name) const;
};

/// Scale of an operand of float8 products. It is chosen from earlier steps (delayed scaling, Micikevicius et al.,
/// 2022).
struct DelayedScale {
  static constexpr std::int64_t history_length = 1024;  ///< as in Keras

  /// A number is rounded to its quotient by the scale, float32 of shape (): largest magnitude / largest float8 number.
  Shared<VariableState> scale{std::shared_ptr<VariableState>()};
  /// Largest magnitudes of earlier steps, float32, in Keras' order: the newest is the first.
  Shared<VariableState> amax_history{std::shared_ptr<VariableState>()};
};

/// Scales of a kernel's products in float8.
struct Float8Scales {
  DelayedScale inputs, kernel;  ///< of the operands, in float8_e4m3fn
  DelayedScale outputs_grad;    ///< of the cotangent of the product, in float8_e5m2
};

/// Rounding of a floating weight and of the inputs of its products: quantization-aware training, and float8.
struct FakeQuantization {
  QuantizedForm form;    ///< the form to prepare for, whose `fake` is true; or float8
  QuantizableAxes axes;  ///< axes of the weight that share a scale
  /// Distance of two codes of the inputs, float32 of shape (): 1 / the inputs_scale of Quantization. 0: not chosen yet.
  /// Null unless inputs are static.
  Shared<VariableState> inputs_step{std::shared_ptr<VariableState>()};
  std::optional<Float8Scales> float8{};  ///< of a kernel with products in float8; none for the bias of its layer
};

/// Stores a floating variable as codes with the scales and zero points of `quantization`, which get their numbers. The
/// variable is no longer trainable. A ValueError for NaN and infinity.
MEZZO_API void quantize(VariableState& variable, std::shared_ptr<Quantization> quantization);

}  // namespace mezzo::detail
