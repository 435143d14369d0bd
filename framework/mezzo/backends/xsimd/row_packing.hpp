#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/conversions.hpp>
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
        widen_(kernels(isa).cast.from_storage[dtype].float32),
        size_(size_of(dtype)),
        pairs_(dtype == DType::bfloat16 && multiplies_pairs(products_)) {}

  bool pairs() const { return pairs_; }
  /// Bytes of a number.
  Index size() const { return size_; }
  /// Words of a column of so many rows.
  Index words(Index rows) const { return pairs_ ? (rows + 1) / 2 : rows; }

  /// Copies columns of rows that are `width` apart, to blocks or to panels, `pitch` floats apart. `wide`: memory for
  /// `width` floats, not used for float32.
  void blocks(const void* from, Index width, const Columns& columns, const Rows& rows, float* wide, float* to,
              Index pitch) const {
    pack(products_.pack.blocks, products_.pack_pairs.blocks, from, width, columns, rows, wide, to, pitch,
         block_columns);
  }
  void panels(const void* from, Index width, const Columns& columns, const Rows& rows, float* wide, float* to,
              Index pitch) const {
    pack(products_.pack.panels, products_.pack_pairs.panels, from, width, columns, rows, wide, to, pitch,
         products_.panel);
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
  void pack(PackFunctions<float>::Pack pack_floats, PackFunctions<bfloat16>::Pack pack_pairs, const void* matrix,
            Index width, const Columns& columns, const Rows& rows, float* wide, float* to, Index pitch,
            Index panel) const {
    const char* from = static_cast<const char*>(matrix) + (rows.first * width + columns.first) * size_;
    if (pairs_) {
      return pack_pairs({.from = reinterpret_cast<const bfloat16*>(from),
                         .width = width,
                         .rows = rows.count,
                         .columns = columns.count,
                         .to = reinterpret_cast<bfloat16*>(to),
                         .pitch = 2 * pitch});
    }
    if (size_ == sizeof(float)) {
      return pack_floats({.from = reinterpret_cast<const float*>(from),
                          .width = width,
                          .rows = rows.count,
                          .columns = columns.count,
                          .to = to,
                          .pitch = pitch});
    }
    for (Index i = 0; i < rows.count; ++i, from += width * size_, to += panel) {
      widen_(from, wide, columns.count);
      pack_floats({.from = wide, .width = width, .rows = 1, .columns = columns.count, .to = to, .pitch = pitch});
    }
  }

  const ProductFunctions& products_;
  const CastFunctions::Cast widen_;
  const Index size_;
  const bool pairs_;  ///< multiplies bfloat16
};

}  // namespace mezzo::xsimd_kernels
