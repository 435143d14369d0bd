#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Two operands row by row. An operand moves on by its `row` from row to row and by its `step`, 0 or 1, in a row.
struct BinaryShape {
  std::int64_t rows, columns;
  std::int64_t a_row, b_row, a_step, b_step;
};

struct ElementwiseFunctions {
  using Unary = void (*)(const void* x, void* y, std::int64_t count);
  using Binary = void (*)(const void* a, const void* b, void* out, const BinaryShape& shape);

  PerStorage<Unary> relu, exp, log, negative, abs, sign, tanh, sigmoid, gelu, approximate_gelu;
  PerStorage<Binary> add, subtract, multiply, divide, relu_gradient, tanh_gradient, sigmoid_gradient, gelu_gradient,
      approximate_gelu_gradient;
};

namespace sse2 {
extern const ElementwiseFunctions elementwise;
}
namespace avx2 {
extern const ElementwiseFunctions elementwise;
}
namespace avx512 {
extern const ElementwiseFunctions elementwise;
}
namespace avx512_bf16 {
extern const ElementwiseFunctions elementwise;
}

}  // namespace mezzo::xsimd_kernels
