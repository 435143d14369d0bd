#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Some columns of a product of a few rows with a large matrix, which is read once in the order of memory. Numbers of
/// the matrix and of the result have the function's storage type; sums are float32 and made in the order of depth, for
/// any split into columns.
struct FewRows {
  const float* a = nullptr;  ///< (rows, depth)
  const void* b = nullptr;   ///< first of the columns; (depth, columns), or (columns, depth) if transposed
  std::int64_t b_width = 0;  ///< elements from row to row of b
  std::int64_t rows = 0;     ///< 1 to most_rows
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  float* sums = nullptr;       ///< memory for rows * columns floats
  const void* bias = nullptr;  ///< of the first column, in float32 or the storage type; null: none
  bool float32_bias = false;
  void* out = nullptr;  ///< of the first column
  std::int64_t out_width = 0;

  static constexpr std::int64_t most_rows = 8;
};

struct FewRowsFunctions {
  using Product = void (*)(const FewRows&);
  PerStorage<Product> plain, transposed;
};

MEZZO_ISA_TABLE(FewRowsFunctions, few_rows)

Entries few_rows_entries();

}  // namespace mezzo::xsimd_kernels
