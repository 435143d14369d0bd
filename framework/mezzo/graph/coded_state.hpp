#pragma once
#include <mezzo/core/dynamic_code.hpp>
#include <mezzo/graph/variable_state.hpp>

// Slots of optimizers in 8 bits: `value` has the codes of a DynamicCode, signed as int8, unsigned as uint8, and
// `remainder` the scales of blocks of 256 elements in the order of memory, float32.
namespace mezzo::detail {

/// True for a slot in 8 bits.
inline bool is_coded(const VariableState& slot) {
  return slot.remainder != nullptr && slot.value.dtype() != DType::bfloat16;
}

/// The numbers of a slot in 8 bits, float32.
Tensor decoded(const VariableState& slot);

/// Replaces the numbers of a slot in 8 bits by those of a float32 array of its shape.
void set_codes(VariableState& slot, const Tensor& numbers);

/// Stores a slot in 8 bits: `code` is int8 for numbers of both signs, uint8 for others.
void encode(VariableState& slot, DType code);

/// Gives a slot zeros in 8 bits, without an array of their numbers.
void encode_zeros(VariableState& slot, const Shape& shape, DType code);

}  // namespace mezzo::detail
