#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Sums of arrays of `rows` rows: in float over short stretches, whose sums are added in double.
struct ReduceFunctions {
  /// The sum of each row.
  using Rows = void (*)(const void* x, std::int64_t rows, std::int64_t columns, double* sums);

  /// The sum of each column, at most 1024. Rows lie `stride` elements apart.
  using Columns = void (*)(const void* x, std::int64_t rows, std::int64_t columns, std::int64_t stride, double* sums);

  PerStorage<Rows> rows;
  PerStorage<Columns> columns;
};

/// Functions on dense arrays of `rows` rows of `columns` channels.
struct ReluBiasGradientFunctions {
  /// out = g where y > 0, else 0; and the sum of out for each column. out may be y or g.
  using MaskAndSum = void (*)(const void* y, const void* g, void* out, std::int64_t rows, std::int64_t columns,
                              double* sums);
  PerStorage<MaskAndSum> mask_and_sum;
};

MEZZO_ISA_TABLE(ReduceFunctions, reduce)
MEZZO_ISA_TABLE(ReluBiasGradientFunctions, relu_bias_gradient)

Entries reduce_entries();

}  // namespace mezzo::xsimd_kernels
