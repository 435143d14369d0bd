#pragma once
#include <mezzo/nn/variable.hpp>

namespace mezzo::detail {

/// x (..., in) times a quantized kernel (in, ...) as a matrix, or times a transposed quantized table, or an int8 kernel
/// (..., in): (..., out). Uses the op quantized_matmul. Integers x are cast to the compute dtype. A ValueError for
/// static inputs without a scale.
Value quantized_product(const Value& x, const Variable& kernel);

/// Dequantized rows of a quantized table.
Value quantized_rows(const Value& indices, const Variable& table);

}  // namespace mezzo::detail
