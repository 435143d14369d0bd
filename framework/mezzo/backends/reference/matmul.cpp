#include <algorithm>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/tiled_product.hpp>

namespace mezzo::reference {
namespace {

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

Stack stack_of(const Shape& shape, bool transposed, bool batched) {
  const std::int64_t width = shape.back();
  const std::int64_t matrix = batched ? shape[shape.size() - 2] * width : 0;
  return transposed ? Stack{.next_matrix = matrix, .next_row = 1, .next_column = width}
                    : Stack{.next_matrix = matrix, .next_row = width, .next_column = 1};
}

/// Sizes of the products. A right operand of rank 2 multiplies all rows of the left operand in one product.
ProductSize product_size(const KernelRequest& request, bool batched) {
  const Shape& a = request.inputs[0].shape;
  const Shape& out = request.outputs[0].shape;
  const std::int64_t depth = a[a.size() - (request.attributes.get_or<bool>("transpose_a", false) ? 2 : 1)];
  const std::int64_t leading = element_count(Shape(out.begin(), out.end() - 2));
  const std::int64_t rows = out[out.size() - 2];
  return {
      .batches = batched ? leading : 1, .rows = batched ? rows : leading * rows, .columns = out.back(), .depth = depth};
}

template <class T, class Out>
std::unique_ptr<Kernel> matmul(const KernelRequest& request) {
  const bool batched = request.inputs[1].shape.size() > 2;
  const ProductSize size = product_size(request, batched);
  const bool transpose_a = request.attributes.get_or<bool>("transpose_a", false);
  const bool transpose_b = request.attributes.get_or<bool>("transpose_b", false);
  const Stack a = stack_of(request.inputs[0].shape, transpose_a, batched);
  const Stack b = stack_of(request.inputs[1].shape, transpose_b, batched);
  const bool has_bias = request.inputs.size() > 2;
  const bool relu = has_relu(request);
  return make_kernel([=](const KernelArguments& arguments) {
    const T* bias = has_bias ? arguments.in<T>(2) : nullptr;
    tiled_product<T>(
        size,
        [&](std::int64_t batch, std::int64_t i, std::int64_t k, std::int64_t count, T* to) {
          a.copy(arguments.in<T>(0), batch, i, k, count, to);
        },
        [&](std::int64_t batch, std::int64_t k, std::int64_t j, std::int64_t count, T* to) {
          b.copy(arguments.in<T>(1), batch, k, j, count, to);
        },
        [&](std::int64_t batch, std::int64_t i, std::int64_t j, std::int64_t count, const T* sums) {
          Out* out = arguments.out<Out>(0) + (batch * size.rows + i) * size.columns + j;
          for (std::int64_t n = 0; n < count; ++n) out[n] = static_cast<Out>(finish(sums[n], bias, j + n, relu));
        });
  });
}

}  // namespace

std::unique_ptr<Kernel> create_matmul(const KernelRequest& request, std::string& reason) {
  return for_input_and_output(
      request, reason, [&](auto zero, auto out_zero) { return matmul<decltype(zero), decltype(out_zero)>(request); });
}

}  // namespace mezzo::reference
