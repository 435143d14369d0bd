#pragma once
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/tiled_product.hpp>

namespace mezzo::reference {

/// Strides of a stack of matrices, which may be read transposed. In elements.
struct Stack {
  std::int64_t next_matrix, next_row, next_column;

  /// Copies the elements (i, j) to (i, j + count - 1) of one matrix.
  template <class T>
  void copy(const T* data, std::int64_t matrix, std::int64_t i, std::int64_t j, std::int64_t count, T* to) const {
    const T* from = data + matrix * next_matrix + i * next_row + j * next_column;
    for (std::int64_t n = 0; n < count; ++n) to[n] = from[n * next_column];
  }
};

inline Stack stack_of(const Shape& shape, bool transposed, bool batched) {
  const std::int64_t width = shape.back();
  const std::int64_t matrix = batched ? shape[shape.size() - 2] * width : 0;
  return transposed ? Stack{.next_matrix = matrix, .next_row = 1, .next_column = width}
                    : Stack{.next_matrix = matrix, .next_row = width, .next_column = 1};
}

/// Sizes of the products. A right operand of rank 2 multiplies all rows of the left operand in one product.
inline ProductSize product_size(const KernelRequest& request, bool batched) {
  const Shape& a = request.inputs[0].shape;
  const Shape& out = request.outputs[0].shape;
  const std::int64_t depth = a[a.size() - (request.attributes.get_or<bool>("transpose_a", false) ? 2 : 1)];
  const std::int64_t leading = element_count(Shape(out.begin(), out.end() - 2));
  const std::int64_t rows = out[out.size() - 2];
  return {
      .batches = batched ? leading : 1, .rows = batched ? rows : leading * rows, .columns = out.back(), .depth = depth};
}

/// True if input 1 is a stack of matrices, one for each of input 0.
inline bool is_batched(const KernelRequest& request) { return request.inputs[1].shape.size() > 2; }

/// The product of a request with the attribute products "int8" (int8_matmul.cpp).
std::unique_ptr<Kernel> create_int8_matmul(const KernelRequest& request, std::string& reason);

}  // namespace mezzo::reference
