#include <mezzo/graph/variable_state.hpp>

namespace mezzo {

void VariableState::copy_from(const VariableState& other) {
  name = other.name;
  value = other.value.copy();
  filled = other.filled;
  trainable = other.trainable;
  autocast = other.autocast;
  fixed_dtype = other.fixed_dtype;
  file_name = other.file_name;
  file_axes = other.file_axes;
  file_shape = other.file_shape;
}

VariableState::Copy& VariableState::copy_in(DType dtype) {
  for (Copy& copy : copies) {
    if (copy.dtype == dtype) return copy;
  }
  copies.push_back({dtype, Tensor::uninitialized(value.shape(), dtype), ~std::uint64_t{0}});
  return copies.back();
}

void VariableState::convert(DType dtype) {
  if (value.dtype() == dtype) return;
  value = value.cast(dtype);
  copies.clear();
  ++version;
}

void VariableState::assign(const Tensor& numbers) {
  if (filled && numbers.shape() != value.shape()) {
    throw ShapeError("[Variable \"" + name + "\"] assign: shape must be " + to_string(value.shape()) + "; got " +
                     to_string(numbers.shape()));
  }
  value = filled ? numbers.cast(value.dtype()) : numbers;
  filled = true;
  ++version;
}

}  // namespace mezzo
