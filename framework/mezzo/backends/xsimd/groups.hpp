#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {

/// A dense array as three groups of axes; the middle one is reduced. It is cut into blocks of fixed size, each with a
/// partial result for each of its columns, so that results don't depend on the number of threads.
struct Groups {
  using Index = std::int64_t;
  Index outer = 1, reduced = 1, inner = 1;
  Index block = 1, blocks = 0;  ///< elements of the middle group in a block; number of blocks
  Index width = 1, strips = 1;  ///< columns of a block; number of blocks side by side

  /// Finds the groups of axes. Returns false if the axes to reduce aren't neighbours. A block has up to `widest`
  /// columns: 4 KiB of float32 elements.
  bool split(const Shape& shape, const Shape& axes, Index widest = 1024) {
    bool seen = false;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1) continue;
      const bool is_reduced = std::find(axes.begin(), axes.end(), static_cast<Index>(axis)) != axes.end();
      if (is_reduced && inner != 1) return false;
      Index& part = is_reduced ? reduced : seen ? inner : outer;
      part *= shape[axis];
      seen = seen || is_reduced;
    }
    width = std::min(inner, widest);
    strips = (inner + width - 1) / width;
    block = std::max<Index>(64 * widest / width, 1);
    blocks = (reduced + block - 1) / block;
    return true;
  }

  Index results() const { return outer * inner; }
  Index partial_results() const { return outer * blocks * inner; }

  /// Computes the partial results, which are an array with axes outer, block, inner. Calls either rows(first element,
  /// rows, elements of a row, first result), with one result per row, or columns(first element, rows, columns, number
  /// of the first row in the middle group, first result), with one result per column.
  template <class Rows, class Columns>
  void for_blocks(const Rows& rows, const Columns& columns) const {
    if (inner == 1 && blocks == 1) {
      parallel_for(outer, grain_of(reduced),
                   [&](Index begin, Index end) { rows(begin * reduced, end - begin, reduced, begin); });
      return;
    }
    parallel_for(outer * blocks * strips, grain_of(std::min(block, reduced) * width), [&](Index begin, Index end) {
      for (Index task = begin; task < end; ++task) {
        const Index strip = task % strips * width, piece = task / strips;
        const Index first = piece % blocks * block, count = std::min(block, reduced - first);
        const Index from = (piece / blocks * reduced + first) * inner + strip;
        if (inner == 1) {
          rows(from, 1, count, piece);
        } else {
          columns(from, count, std::min(width, inner - strip), first, piece * inner + strip);
        }
      }
    });
  }

  /// Calls body(result, its first partial result) for each result; the others lie `inner` apart.
  template <class Body>
  void for_results(const Body& body) const {
    parallel_for(results(), grain_of(blocks), [&](Index begin, Index end) {
      Index first = begin / inner * blocks * inner, column = begin % inner;
      for (Index i = begin; i < end; ++i) {
        body(i, first + column);
        if (++column < inner) continue;
        column = 0;
        first += blocks * inner;
      }
    });
  }
};

}  // namespace mezzo::xsimd_kernels
