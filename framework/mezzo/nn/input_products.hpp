#pragma once
#include <cstdint>
#include <functional>
#include <map>

#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/graph/variable_state.hpp>

namespace mezzo::detail {

/// Sum of X^T X over all inputs X (rows, inputs) of the products of a kernel.
struct InputProducts {
  std::int64_t rows = 0;
  Tensor sum;  ///< float64 (inputs, inputs); undefined before the first input
};

/// The sums of these kernels.
using ProductsOfKernels = std::map<const VariableState*, InputProducts>;

/// Calls `run` and adds the inputs of products with the kernels in `sums` that this thread computes meanwhile. A
/// ValueError for inputs with NaN or infinity.
void add_input_products(ProductsOfKernels& sums, const std::function<void()>& run);

/// True if this thread adds the inputs of products with the kernel.
bool adds_input_products(const VariableState& kernel);

/// Adds the input x (..., inputs) of a product with a floating kernel, if adds_input_products(). Nothing happens for
/// symbols.
void note_product(const Value& x, const VariableState& kernel);

}  // namespace mezzo::detail
