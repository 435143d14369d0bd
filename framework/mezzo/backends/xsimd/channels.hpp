#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {

/// A dense array as rows of channels. Blocks of rows have a fixed size, so that sums don't depend on the number of
/// threads.
struct Channels {
  using Index = std::int64_t;
  Index rows = 0, columns;
  Index size;           ///< bytes per element
  Index block, blocks;  ///< rows of a block, number of blocks

  explicit Channels(const Spec& x) : columns(x.shape.back()), size(size_of(x.dtype)) {
    if (columns > 0) rows = element_count(x.shape) / columns;
    constexpr Index block_elements = 65536, whole_pieces = 64;
    block = (block_elements / std::max(columns, Index{1}) / whole_pieces + 1) * whole_pieces;
    blocks = (rows + block - 1) / block;
  }

  /// Calls body(offset in bytes, rows, bytes that remain for the thread) for pieces of rows, on each thread from the
  /// last to the first: those that for_blocks read last are still in the caches.
  template <class Body>
  void for_rows_backwards(const Body& body) const {
    parallel_for(rows, grain_of(columns), [&](Index begin, Index end) {
      for (Index last = end; last > begin;) {
        const Index first = std::max(begin, last - block);
        body(first * columns * size, last - first, (first - begin) * columns * size);
        last = first;
      }
    });
  }

  /// Calls body(offset in bytes, rows, index of the block's first sum) for each block; a block has a sum for each
  /// column.
  template <class Body>
  void for_blocks(const Body& body) const {
    parallel_for(blocks, grain_of(block * columns), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        body(i * block * columns * size, std::min(block, rows - i * block), i * columns);
      }
    });
  }

  /// Adds the sums of all blocks to sums[0, columns).
  void add_blocks(double* sums) const {
    for (Index i = 1; i < blocks; ++i) {
      for (Index c = 0; c < columns; ++c) sums[c] += sums[i * columns + c];
    }
  }

  /// Number of the sums of all blocks.
  std::size_t doubles() const { return static_cast<std::size_t>(std::max(blocks, Index{1}) * columns); }
  std::size_t floats(Index arrays) const { return static_cast<std::size_t>(arrays * columns); }
};

}  // namespace mezzo::xsimd_kernels
