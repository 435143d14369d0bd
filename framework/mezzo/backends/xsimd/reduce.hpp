#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Sums of dense arrays of `rows` rows: floats over short stretches, whose sums are added up in double.
struct ReduceFunctions {
  using Sum = void (*)(const void* x, std::int64_t rows, std::int64_t columns, double* sums);

  PerStorage<Sum> rows;     ///< the sum of each row
  PerStorage<Sum> columns;  ///< the sum of each column
};

namespace sse2 {
extern const ReduceFunctions reduce;
}
namespace avx2 {
extern const ReduceFunctions reduce;
}
namespace avx512 {
extern const ReduceFunctions reduce;
}
namespace avx512_bf16 {
extern const ReduceFunctions reduce;
}

}  // namespace mezzo::xsimd_kernels
