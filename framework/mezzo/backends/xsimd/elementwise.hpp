#pragma once
#include <cstdint>
#include <span>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Shape of two operands and their result as rows of columns. Operand a moves on by a_row elements from row to row and
/// by a_step, 0 or 1, in a row; b likewise. The result is dense.
struct BinaryShape {
  std::int64_t rows, columns;
  std::int64_t a_row, b_row, a_step, b_step;
};

/// The functions of one op.
template <class Function>
struct ElementwiseRow {
  const char* op;
  PerStorage<Function> functions;
  bool approximate = false;  ///< the value of the attribute `approximate`, for ops that have it
  double max_value = 0;      ///< likewise; 0 without it
};

/// The kernels of this family are the rows of these tables, which elementwise.isa.cpp defines.
struct ElementwiseFunctions {
  /// y may be x.
  using Unary = void (*)(const void* x, void* y, std::int64_t count);

  /// out may be an operand of its shape.
  using Binary = void (*)(const void* a, const void* b, void* out, const BinaryShape& shape);

  std::span<const ElementwiseRow<Unary>> unary;
  std::span<const ElementwiseRow<Binary>> binary;
};

MEZZO_ISA_TABLE(ElementwiseFunctions, elementwise)

Entries elementwise_entries();

}  // namespace mezzo::xsimd_kernels
