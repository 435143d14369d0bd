#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {

/// Sizes of `batches` products of (rows, depth) by (depth, columns).
struct ProductSize {
  std::int64_t batches, rows, columns, depth;
};

/// Matrix products in tiles that fit the cache and the stack. Functions supply the elements and store the sums. Each
/// sum adds up in T in the order of depth, so results do not depend on the number of threads.
///   left(batch, i, k, count, T* to):   elements (i, k) to (i, k + count - 1) of the left matrix
///   right(batch, k, j, count, T* to):  elements (k, j) to (k, j + count - 1) of the right matrix
///   store(batch, i, j, count, const T* sums):  elements (i, j) to (i, j + count - 1) of the product
template <class T, class Left, class Right, class Store>
void tiled_product(const ProductSize& size, const Left& left, const Right& right, const Store& store) {
  constexpr std::int64_t tile_rows = 64, tile_columns = 32, tile_depth = 64;
  const std::int64_t row_tiles = (size.rows + tile_rows - 1) / tile_rows;
  const std::int64_t column_tiles = (size.columns + tile_columns - 1) / tile_columns;
  parallel_for(size.batches * row_tiles * column_tiles, 1, [&](std::int64_t begin, std::int64_t end) {
    T a[tile_rows][tile_depth], b[tile_depth][tile_columns], sums[tile_rows][tile_columns];
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t batch = tile / (row_tiles * column_tiles);
      const std::int64_t i0 = tile / column_tiles % row_tiles * tile_rows;
      const std::int64_t j0 = tile % column_tiles * tile_columns;
      const std::int64_t rows = std::min(tile_rows, size.rows - i0);
      const std::int64_t columns = std::min(tile_columns, size.columns - j0);
      for (std::int64_t i = 0; i < rows; ++i) std::fill_n(sums[i], columns, T{0});
      for (std::int64_t k0 = 0; k0 < size.depth; k0 += tile_depth) {
        const std::int64_t depth = std::min(tile_depth, size.depth - k0);
        for (std::int64_t i = 0; i < rows; ++i) left(batch, i0 + i, k0, depth, a[i]);
        for (std::int64_t k = 0; k < depth; ++k) right(batch, k0 + k, j0, columns, b[k]);
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t k = 0; k < depth; ++k) {
            for (std::int64_t j = 0; j < columns; ++j) sums[i][j] += a[i][k] * b[k][j];
          }
        }
      }
      for (std::int64_t i = 0; i < rows; ++i) store(batch, i0 + i, j0, columns, sums[i]);
    }
  });
}

/// A sum with bias (null: none) and ReLU applied. NaN stays NaN.
template <class T>
T finish(T sum, const T* bias, std::int64_t column, bool relu) {
  if (bias != nullptr) sum += bias[column];
  return relu && sum <= 0 ? T{0} : sum;
}

}  // namespace mezzo::reference
