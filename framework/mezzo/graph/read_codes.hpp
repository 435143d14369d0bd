#pragma once
#include <memory>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/attributes.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/graph/variable_state.hpp>

namespace mezzo::detail {

struct FakeQuantization;

/// Operands of a quantized variable's op, of the running trace or else as arrays: codes as they are stored, scales,
/// and zero points if there are any.
MEZZO_API Values read_codes(const std::shared_ptr<VariableState>& variable);

/// Dtype in which a quantized variable is read: the compute dtype of the running layer, float32 for a variable that
/// isn't cast to it.
DType dequantized_dtype(const VariableState& variable);

/// The numbers of a quantized variable in that dtype: a node `dequantize` of these operands.
MEZZO_API Value dequantized(const std::shared_ptr<VariableState>& variable, const Values& codes);

/// Attributes of the op dequantize for a weight in this form: bits, columns, axes, block_size.
MEZZO_API Attributes dequantize_attributes(const Quantization& quantization);

/// @name Rounding in training
/// @{

/// The numbers that the codes of a weight would stand for. The gradient passes through. A kernel of products in float8
/// isn't rounded here, since each of its products also updates its scale; the bias beside it is.
Value rounded_weight(const Value& numbers, const VariableState& weight);

/// The same for rows of a look-up table: the last axis has the row.
MEZZO_API Value rounded_rows(const Value& rows, const FakeQuantization& fake);

/// Inputs of a product, rounded to 8 bits with a scale for each row, or with one step (float32 of shape ()) for all.
MEZZO_API Value rounded_by_row(const Value& x);
MEZZO_API Value rounded_by_step(const Value& x, const Value& step);

/// Reads a variable as read_variable() does, without rounding: for penalties, constraints and averages.
MEZZO_API Value read_unrounded(const std::shared_ptr<VariableState>& variable);
/// @}

}  // namespace mezzo::detail
