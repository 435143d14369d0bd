#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Rows of memory that are fetched into the L2 cache a few lines at a time, while products of others are computed.
struct RowsAhead {
  const char* row = nullptr;
  std::int64_t rows = 0;   ///< that are not fetched yet, with `row`
  std::int64_t pitch = 0;  ///< bytes from row to row
  std::int64_t bytes = 0;  ///< of a row
  std::int64_t at = 0;     ///< next byte of `row`
};

/// Some rows of a matrix product for one panel of columns: sums = a b, or += with `accumulate`, then plus the bias and
/// max(least, sums), which keeps NaN. The rows are computed in blocks of nearly equal size. Each sum is made in the
/// order of depth, whatever the number of rows.
struct GemmPanel {
  const float* a = nullptr;
  std::int64_t a_width = 0;  ///< distance of rows, or of blocks of rows that are packed by pack_left
  const float* b = nullptr;  ///< (depth, panel), packed by pack_right
  float* sums = nullptr;
  std::int64_t sums_width = 0;
  bfloat16* rounded = nullptr;  ///< takes the results in place of `sums`, which is only read then; null: sums
  std::int64_t rounded_width = 0;
  std::int64_t rows = 0, depth = 0;
  std::int64_t columns = 0;  ///< the first columns of the panel, which are written
  bool accumulate = false;
  const float* bias = nullptr;  ///< one number for each of the columns; null: none
  float least = 0;              ///< 0 for a ReLU, otherwise -infinity
  RowsAhead* ahead = nullptr;
  std::int64_t lines = 0;  ///< lines of `ahead` that each block fetches
};

/// A piece of a matrix that is copied for products, as float32.
struct GemmPiece {
  const void* from = nullptr;
  std::int64_t width = 0;  ///< distance of rows in memory
  std::int64_t depth = 0;
  std::int64_t count = 0;     ///< rows of the left factor, or columns of the right one
  std::int64_t readable = 0;  ///< numbers that may be read from each row on, at least `count`
  float* to = nullptr;
  std::int64_t pitch = 0;  ///< distance of blocks or panels; up to a register behind a block is overwritten
  bool rounds = false;     ///< rounds float32 to bfloat16; for right factors
};

/// Copies of matrices of one dtype.
struct GemmPacking {
  using Pack = void (*)(const GemmPiece&);
  Pack rows;              ///< (count, depth) to rows, `pitch` apart
  Pack left;              ///< (depth, count) to blocks of rows
  Pack right;             ///< (depth, count) to panels; columns behind the last one are 0
  Pack transposed_right;  ///< (count, depth) to panels
};

struct GemmFunctions {
  using Product = void (*)(const GemmPanel&);
  Product product;         ///< rows of a in memory
  Product packed_product;  ///< rows of a packed in blocks
  GemmPacking float32, bfloat16;
  std::int64_t rows;   ///< most rows of a block
  std::int64_t panel;  ///< columns of a panel
};

/// Blocks into which a product divides so many rows. Block i begins at row rows * i / blocks.
constexpr std::int64_t gemm_blocks(std::int64_t rows, std::int64_t most) { return (rows + most - 1) / most; }

MEZZO_ISA_TABLE(GemmFunctions, gemm)

/// Products of float32 or bfloat16 matrices whose right operand is one matrix.
Entries gemm_entries();

}  // namespace mezzo::xsimd_kernels
