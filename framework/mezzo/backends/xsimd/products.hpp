#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// A matrix product for one panel of columns: out = a b or out = a^T b, or += with `accumulate`. a is (rows, depth) or
/// (depth, rows), b (depth, panel), out (rows, panel). The widths are the distances of rows in floats. Each sum is made
/// in the order of depth, for any number of rows.
struct PanelProduct {
  const float* a = nullptr;
  std::int64_t a_width = 0;
  const float* b = nullptr;
  std::int64_t b_width = 0;
  float* out = nullptr;
  std::int64_t out_width = 0, rows = 0, depth = 0;
  bool accumulate = false;
};

/// A product out = a b of bfloat16 numbers for one panel of columns, summed in float32. a is (rows, 2 pairs). b is
/// (pairs, panel, 2): rows 2 k and 2 k + 1 of the panel lie interleaved. Each sum is made in the order of depth, for
/// any number of rows.
struct PairProduct {
  const bfloat16* a = nullptr;
  std::int64_t a_width = 0;  ///< distance of rows
  const bfloat16* b = nullptr;
  float* out = nullptr;
  std::int64_t out_width = 0, rows = 0, pairs = 0;
};

/// Columns of a block of a packed left factor.
constexpr std::int64_t block_columns = 12;

/// Rows of a matrix that are copied to panels: each panel has the same columns of all rows, in the order of memory. The
/// last panel is filled with zeros. Up to 15 floats after a panel's last row are overwritten.
struct PackedRows {
  const float* from = nullptr;
  std::int64_t rows = 0, columns = 0;  ///< `from` has no gaps between the rows
  float* to = nullptr;
  std::int64_t pitch = 0;  ///< distance of panels in floats
};

/// A width of at least `floats` for the rows of a matrix: an odd number of cache lines, since rows at a distance of a
/// power of two would share a set of the cache.
inline std::int64_t spread_width(std::int64_t floats) {
  constexpr std::int64_t line = 16;
  return ((floats + line - 1) / line | 1) * line;
}

/// n rounded up to a multiple of `unit`.
inline std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

struct ProductFunctions {
  using Product = void (*)(const PanelProduct&);
  Product product;                           ///< a b
  Product transposed_product;                ///< a^T b
  std::int64_t panel;                        ///< number of columns of a panel
  void (*pack_blocks)(const PackedRows&);    ///< to panels of block_columns columns
  void (*pack_panels)(const PackedRows&);    ///< to panels of `panel` columns
  void (*pair_product)(const PairProduct&);  ///< null if the instruction set has no products of bfloat16
};

MEZZO_ISA_TABLE(ProductFunctions, products)

}  // namespace mezzo::xsimd_kernels
