#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Extremes and products of arrays of `rows` rows; rows of the functions of columns lie `stride` elements apart.
///
/// Extremes are found by rank: an integer for each number, with the order of the numbers for the largest and the
/// opposite one for the smallest element. Equal numbers, also 0 and -0, have one rank; that of NaN is the highest.
/// Denormals have the rank of 0 while the CPU treats them as zeros.
struct FoldFunctions {
  /// The highest rank of each row.
  using Rows = void (*)(const void* x, std::int64_t rows, std::int64_t columns, std::int32_t* ranks);

  /// The highest rank of each column.
  using Columns = void (*)(const void* x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                           std::int32_t* ranks);

  /// The highest rank of each row, and the first place where it is.
  using RowPlaces = void (*)(const void* x, std::int64_t rows, std::int64_t columns, std::int32_t* ranks,
                             std::int32_t* places);

  /// The highest rank of each column, and the first row where it is.
  using ColumnPlaces = void (*)(const void* x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                                std::int32_t* ranks, std::int32_t* places);

  /// The product of each row.
  using RowProducts = void (*)(const void* x, std::int64_t rows, std::int64_t columns, double* products);

  /// The product of each column.
  using ColumnProducts = void (*)(const void* x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                                  double* products);

  /// The functions of the largest element, or of the smallest.
  struct Extreme {
    PerStorage<Rows> rows;
    PerStorage<Columns> columns;
    PerStorage<RowPlaces> row_places;
    PerStorage<ColumnPlaces> column_places;
  };

  Extreme max, min;
  PerStorage<RowProducts> row_products;
  PerStorage<ColumnProducts> column_products;
};

MEZZO_ISA_TABLE(FoldFunctions, fold)

Entries fold_entries();

}  // namespace mezzo::xsimd_kernels
