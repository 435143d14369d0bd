#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mezzo/c/mezzo.h>
#include <mezzo/core/tensor.hpp>
#include <mezzo/training/model/tensors.hpp>

namespace mezzo::detail {

/// Number of a dtype in the interface.
std::int32_t c_dtype_of(DType dtype);

/// Views of a list of a caller's arrays, by position or by name. `what` names the list in errors.
Tensors tensors_of(const mezzo_array* arrays, std::size_t count, const char* function, const char* what);

/// Sets shapes and dtypes of buffers and, if all are large enough, copies the outputs to them. An error otherwise.
void write_outputs(const std::vector<Tensor>& outputs, mezzo_buffer* buffers, std::size_t count, const char* function);

}  // namespace mezzo::detail
