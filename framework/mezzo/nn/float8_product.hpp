#pragma once
#include <functional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/variable.hpp>

// Products of layers in float8, emulated: operands are rounded to 8 bits and multiplied in the compute dtype.
namespace mezzo::detail {

/// True for a kernel that quantize("float8") or a policy has prepared.
MEZZO_API bool has_float8_products(const Variable& kernel);

/// multiply(x, numbers), where x and the numbers of the kernel are rounded to float8_e4m3fn and the cotangent of the
/// product to float8_e5m2, with the scales of earlier steps (Micikevicius et al., 2022, "FP8 Formats for Deep
/// Learning"). Formulas are Keras'. The gradient passes through the rounding of operands. A backward pass of training
/// updates scales and histories, unless the layer is frozen; magnitudes that aren't finite leave them as they are. A
/// ValueError for training in the body of a loop, which can't update variables.
MEZZO_API Value float8_product(const Value& x, const Value& numbers, const VariableState& kernel,
                               const std::function<Value(const Value& x, const Value& numbers)>& multiply);

}  // namespace mezzo::detail
