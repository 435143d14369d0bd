#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Sums of dense arrays of `rows` rows: in float over short stretches, whose sums are added in double.
struct ReduceFunctions {
  using Sum = void (*)(const void* x, std::int64_t rows, std::int64_t columns, double* sums);

  PerStorage<Sum> rows;     ///< the sum of each row
  PerStorage<Sum> columns;  ///< the sum of each column
};

MEZZO_ISA_TABLE(ReduceFunctions, reduce)

Entries reduce_entries();

}  // namespace mezzo::xsimd_kernels
