#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>

namespace mezzo::xsimd_kernels {

/// A matrix product for one panel of columns: out = a b or out = a^T b, or += with `accumulate`. a is (rows, depth) or
/// (depth, rows), b (depth, panel), out (rows, panel). The widths are the distances of rows in floats. Factors of
/// several segments add to the same sums. Each sum is made in the order of segments and depth, for any number of rows.
struct PanelProduct {
  const float* a = nullptr;
  std::int64_t a_width = 0;
  const float* b = nullptr;
  std::int64_t b_width = 0;
  float* out = nullptr;
  std::int64_t out_width = 0, rows = 0, depth = 0;
  bool accumulate = false;
  std::int64_t segments = 1, a_segment = 0, b_segment = 0;  ///< their number, and distances in floats
  Prefetch ahead{};                                         ///< data that other work needs next
  std::int64_t columns = 0;                                 ///< the first columns of the panel that are written; 0: all
  bool past_caches = false;  ///< out is written without being read to the caches; its rows are whole cache lines
  /// @name The array of a b, rounded, in place of out; null: out
  /// With `accumulate`, out is still read. Rows are out_width apart in both.
  /// @{
  bfloat16* out_bfloat16 = nullptr;
  float16* out_float16 = nullptr;
  /// @}
};

/// A product of bfloat16 numbers for one panel of columns, summed in float32: out = a b or out = a^T b, or += with
/// `accumulate`. Two numbers that follow each other along the depth lie side by side: a is (rows, pairs, 2) or (pairs,
/// rows, 2), b (pairs, panel, 2). The last pair of an odd depth has a 0. Factors of several segments add to the same
/// sums. Each sum is made in the order of segments and depth, for any number of rows.
struct PairProduct {
  const bfloat16* a = nullptr;
  std::int64_t a_width = 0;  ///< distance of rows or of pairs, in numbers
  const bfloat16* b = nullptr;
  float* out = nullptr;
  std::int64_t out_width = 0, rows = 0, pairs = 0;
  bool accumulate = false;
  std::int64_t segments = 1, a_segment = 0, b_segment = 0;  ///< their number, and distances in numbers
  Prefetch ahead{};                                         ///< data that other work needs next
};

/// Columns of a block of a packed left factor.
constexpr std::int64_t block_columns = 12;

/// Rows of a matrix that are copied to panels, and converted to another type if need be: each panel has the same
/// columns of all rows, in the order of memory. The last panel is filled with zeros. Up to 15 words of 32 bits after a
/// panel's last row are overwritten.
template <class From, class To = From>
struct PackedRows {
  const From* from = nullptr;
  std::int64_t width = 0;  ///< distance of rows
  std::int64_t rows = 0, columns = 0;
  To* to = nullptr;
  std::int64_t pitch = 0;  ///< distance of panels
};

/// Copies rows to panels of as many columns as a block or a panel of a product has.
template <class From, class To = From>
struct PackFunctions {
  using Pack = void (*)(const PackedRows<From, To>&);
  Pack blocks, panels;
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
  using OfPairs = void (*)(const PairProduct&);
  Product product;             ///< a b
  Product transposed_product;  ///< a^T b
  std::int64_t panel;          ///< number of columns of a panel
  PackFunctions<float> pack;
  PackFunctions<bfloat16, float> pack_bfloat16;
  PackFunctions<float16, float> pack_float16;

  /// @name Null if the instruction set has no products of bfloat16
  /// @{
  OfPairs pair_product;                ///< a b
  OfPairs transposed_pair_product;     ///< a^T b
  PackFunctions<bfloat16> pack_pairs;  ///< in pairs of rows; a row of zeros is added to an odd number
  /// @}
};

MEZZO_ISA_TABLE(ProductFunctions, products)

}  // namespace mezzo::xsimd_kernels
