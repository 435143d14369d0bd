#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Sums and products of the elements up to each one, in double, each rounded once to float32.
struct ScanFunctions {
  struct Order {
    bool reverse;    ///< from the end
    bool exclusive;  ///< without the element itself
  };

  /// Along each of `rows` dense rows of `columns` elements. y may be x.
  using Rows = void (*)(const void* x, void* y, std::int64_t rows, std::int64_t columns, Order order);

  static constexpr std::int64_t widest = 1024;

  /// Along each of `columns` (at most `widest`) neighbouring columns of `rows` elements, `stride` apart. y may be x.
  using Columns = void (*)(const void* x, void* y, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                           Order order);

  PerStorage<Rows> sum_rows, product_rows;
  PerStorage<Columns> sum_columns, product_columns;
};

MEZZO_ISA_TABLE(ScanFunctions, scan)

Entries scan_entries();

}  // namespace mezzo::xsimd_kernels
