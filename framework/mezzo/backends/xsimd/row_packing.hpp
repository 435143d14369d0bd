#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/products.hpp>

namespace mezzo::xsimd_kernels {

struct Columns {
  std::int64_t first = 0, count = 0;
};

struct Rows {
  std::int64_t first = 0, count = 0;
};

/// A product a^T b, or += with `accumulate`, of a copied block and a copied panel. Distances are in words: numbers of
/// float32, or pairs of bfloat16.
struct CopiesProduct {
  const float* a = nullptr;
  const float* b = nullptr;
  float* out = nullptr;
  std::int64_t out_width = 0;  ///< distance of rows in floats
  std::int64_t rows = 0;       ///< columns of the block
  std::int64_t depth = 0;      ///< words of a column
  bool accumulate = false;
  std::int64_t segments = 1, a_segment = 0, b_segment = 0;  ///< their number, and distances
  Prefetch ahead{};                                         ///< data that other work needs next
  std::int64_t columns = 0;  ///< the first columns of the panel that are needed; 0: all. Pairs write whole panels
};

/// Copies columns of the rows of a matrix and multiplies copies: rows of bfloat16 in pairs if the instruction set
/// multiplies them, others as float32.
class RowPacking {
 public:
  using Index = std::int64_t;

  RowPacking(DType dtype, Isa isa)
      : products_(kernels(isa).products),
        dtype_(dtype),
        pairs_(dtype == DType::bfloat16 && multiplies_pairs(products_)) {}

  bool pairs() const { return pairs_; }
  /// Bytes of a number.
  Index size() const { return size_of(dtype_); }
  /// Words of a column of so many rows.
  Index words(Index rows) const { return pairs_ ? (rows + 1) / 2 : rows; }

  /// Copies columns of rows that are `width` apart, to blocks or to panels, `pitch` floats apart.
  void blocks(const void* from, Index width, const Columns& columns, const Rows& rows, float* to, Index pitch) const {
    pack([](const auto& functions) { return functions.blocks; }, from, width, columns, rows, to, pitch);
  }
  void panels(const void* from, Index width, const Columns& columns, const Rows& rows, float* to, Index pitch) const {
    pack([](const auto& functions) { return functions.panels; }, from, width, columns, rows, to, pitch);
  }

  void multiply(const CopiesProduct& p) const {
    if (pairs_) {
      return products_.transposed_pair_product({.a = reinterpret_cast<const bfloat16*>(p.a),
                                                .a_width = 2 * block_columns,
                                                .b = reinterpret_cast<const bfloat16*>(p.b),
                                                .out = p.out,
                                                .out_width = p.out_width,
                                                .rows = p.rows,
                                                .pairs = p.depth,
                                                .accumulate = p.accumulate,
                                                .segments = p.segments,
                                                .a_segment = 2 * p.a_segment,
                                                .b_segment = 2 * p.b_segment,
                                                .ahead = p.ahead});
    }
    products_.transposed_product({.a = p.a,
                                  .a_width = block_columns,
                                  .b = p.b,
                                  .b_width = products_.panel,
                                  .out = p.out,
                                  .out_width = p.out_width,
                                  .rows = p.rows,
                                  .depth = p.depth,
                                  .accumulate = p.accumulate,
                                  .segments = p.segments,
                                  .a_segment = p.a_segment,
                                  .b_segment = p.b_segment,
                                  .ahead = p.ahead,
                                  .columns = p.columns});
  }

 private:
  /// chosen(functions) is the function for blocks or for panels.
  template <class Chosen>
  void pack(const Chosen& chosen, const void* matrix, Index width, const Columns& columns, const Rows& rows, float* to,
            Index pitch) const {
    const Index first = rows.first * width + columns.first;
    const auto copy = [&](const auto* numbers, const auto& functions, auto* place, Index distance) {
      chosen(functions)({.from = numbers + first,
                         .width = width,
                         .rows = rows.count,
                         .columns = columns.count,
                         .to = place,
                         .pitch = distance});
    };
    if (pairs_) {
      copy(static_cast<const bfloat16*>(matrix), products_.pack_pairs, reinterpret_cast<bfloat16*>(to), 2 * pitch);
    } else if (dtype_ == DType::bfloat16) {
      copy(static_cast<const bfloat16*>(matrix), products_.pack_bfloat16, to, pitch);
    } else if (dtype_ == DType::float16) {
      copy(static_cast<const float16*>(matrix), products_.pack_float16, to, pitch);
    } else {
      copy(static_cast<const float*>(matrix), products_.pack, to, pitch);
    }
  }

  const ProductFunctions& products_;
  const DType dtype_;
  const bool pairs_;  ///< multiplies bfloat16
};

}  // namespace mezzo::xsimd_kernels
