#pragma once
#include <mezzo/nn/variable.hpp>

namespace mezzo::detail {

/// Format of the inputs x of a product `op` with a quantized weight in this call. Without fast products of integers,
/// with a warning, floats in place of dynamic ones: static ones clip on any CPU. Floats while scales are calibrated. A
/// ValueError for static inputs without a scale.
QuantizedInputs inputs_now(const Value& x, const Variable& weight, const Op& op);

/// x (..., in) times a quantized kernel (in, ...) as a matrix, or times a transposed quantized table, or an int8 kernel
/// (..., in): (..., out). Uses the op quantized_matmul. Integers x are cast to the compute dtype. A ValueError for
/// static inputs without a scale.
Value quantized_product(const Value& x, const Variable& kernel);

/// Dequantized rows of a quantized table.
Value quantized_rows(const Value& indices, const Variable& table);

}  // namespace mezzo::detail
