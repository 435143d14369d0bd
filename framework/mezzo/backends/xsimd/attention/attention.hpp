#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/dropout.hpp>
#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// A float32 matrix whose rows are `width` numbers apart. width is a multiple of the lanes of a register; the numbers
/// after the columns of a row may be read and written.
struct FloatRows {
  float* data = nullptr;
  std::int64_t width = 0;
};

/// Rows of an operand of attention: positions of one head.
struct HeadRows {
  void* data = nullptr;
  std::int64_t step = 0;  ///< elements from row to row
  std::int64_t rows = 0, columns = 0;
};

/// The scores of consecutive queries.
struct ScoreRows {
  FloatRows scores;
  std::int64_t rows = 0, keys = 0;
  std::int64_t first_query = 0;
  bool causal = false;
  const void* mask = nullptr;  ///< row of the first query, of bool or float32; null without a mask
  bool boolean_mask = false;
  std::int64_t mask_step = 0;                   ///< elements from query to query
  const DropoutRule* dropout = nullptr;         ///< null without dropout
  std::int64_t first_word = 0, words_step = 0;  ///< see AttentionShape::first_word

  /// Number of keys that a row may see without a mask. Always inlined, since kernels of several instruction sets use
  /// it.
  [[gnu::always_inline]] std::int64_t visible(std::int64_t row) const {
    const std::int64_t query = first_query + row;
    return causal && query + 1 < keys ? query + 1 : keys;
  }
};

struct AttentionFunctions {
  /// out = x times `scale`, with 0 after the columns.
  using Widen = void (*)(const HeadRows& x, float scale, const FloatRows& out);
  /// out = x transposed: as many rows as x has columns, with 0 after their columns.
  using Transpose = void (*)(const FloatRows& x, std::int64_t rows, std::int64_t columns, const FloatRows& out);
  /// out = x times `scale`, and times scales[row] unless `scales` is null.
  using Narrow = void (*)(const FloatRows& x, float scale, const float* scales, const HeadRows& out);
  /// The dot product of each row of a with the same row of b.
  using Dots = void (*)(const FloatRows& a, const HeadRows& b, float* sums);
  /// Replaces scores by exp(score - maximum), with dropout, and by 0 for keys that only later queries of these rows
  /// see. Writes log(sum of exp(score)) and 1 / sum of exp(score - maximum) of each row, sums before dropout.
  using Softmax = void (*)(const ScoreRows& rows, float* logarithms, float* inverse_sums);
  /// Replaces scores by weights, with dropout, and the cotangents of the weights by the cotangents of the scores.
  /// deltas[row] is the dot product of the output and its cotangent.
  using Gradient = void (*)(const ScoreRows& rows, const float* logarithms, const float* deltas,
                            const FloatRows& cotangents);

  PerStorage<Widen> widen;
  PerStorage<Narrow> narrow;
  PerStorage<Dots> dots;
  Transpose transpose;
  Softmax softmax;
  Gradient gradient;
};

MEZZO_ISA_TABLE(AttentionFunctions, attention)

Entries attention_entries();

}  // namespace mezzo::xsimd_kernels
