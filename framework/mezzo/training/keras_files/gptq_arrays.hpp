#pragma once
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/nn/variable.hpp>

// Arrays of layers that GPTQ has quantized, in Keras' files: bias, quantized_kernel, kernel_scale, kernel_zero, g_idx.
namespace mezzo::detail {

/// True if a variable of the layer has codes of GPTQ.
bool has_gptq(const std::vector<Variable>& variables);

/// Moves the kernel, its scales and zero points behind the bias, as Keras has them.
void order_gptq(std::vector<Variable>& variables);

/// Throws for a kernel of an EinsumDense layer that Keras takes as another matrix: it guesses the axes of the sum from
/// the largest size.
void require_gptq_matrix_of_keras(const Variable& kernel, const std::string& where);

/// Shape of the array of a kernel, its scales or its zero points. Keras' are transposed: codes uint8
/// ((outputs + 1) / 2, inputs), scales and zero points (outputs, groups).
Shape gptq_shape_in_keras(const Variable& variable);

/// The array of such a variable in that shape. Codes and zero points are in [0, 15], here in [-8, 7].
Tensor gptq_array_for_keras(const Variable& variable);

/// The numbers of such a variable from an array of that shape: codes int8 in the weight's shape. `where` begins errors:
/// a FileError for a zero point above 15.
Tensor gptq_numbers_of_keras(const Variable& variable, const Tensor& array, const std::string& where);

}  // namespace mezzo::detail
