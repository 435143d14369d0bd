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

/// A bfloat16 matrix in 32-bit words of two neighbours each. Rows are `width` words apart.
struct PairRows {
  bfloat16* data = nullptr;
  std::int64_t width = 0;
};

/// The scores of consecutive queries.
struct ScoreRows {
  FloatRows scores;
  float scale = 1;   ///< of the scores, before the mask
  PairRows weights;  ///< destination of softmax, if not null; else it replaces the scores
  std::int64_t rows = 0, keys = 0;
  std::int64_t first_query = 0;
  bool causal = false;
  const void* mask = nullptr;  ///< row of the first query, of bool or float32; null without a mask
  bool boolean_mask = false;
  std::int64_t mask_step = 0;                   ///< elements from query to query
  const DropoutRule* dropout = nullptr;         ///< null without dropout
  std::int64_t first_word = 0, words_step = 0;  ///< see AttentionShape::first_word

  /// Number of keys that a row may attend to without a mask. Always inlined, since kernels of several instruction sets
  /// use it.
  [[gnu::always_inline]] std::int64_t visible(std::int64_t row) const {
    const std::int64_t query = first_query + row;
    return causal && query + 1 < keys ? query + 1 : keys;
  }
};

/// One query of cached_attention and the positions that it attends to: `filled` positions of the caches of its head, in
/// rows without gaps, and the new position. Operands and the result have the dtype of the function.
struct CachedHead {
  const void *query, *key, *value, *keys, *values;
  std::int64_t filled, size, value_size;
  float scale;
  float* scores;  ///< memory for `filled` + 1 numbers
  void* out;
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
  /// attend to. Writes log(sum of exp(score)) and 1 / sum of exp(score - maximum) of each row, sums before dropout.
  using Softmax = void (*)(const ScoreRows& rows, float* logarithms, float* inverse_sums);
  /// Replaces scores by weights, with dropout, and the cotangents of the weights by the cotangents of the scores.
  /// deltas[row] is the dot product of the output and its cotangent.
  using Gradient = void (*)(const ScoreRows& rows, const float* logarithms, const float* deltas,
                            const FloatRows& cotangents);
  /// Computes one head of cached_attention.
  using Attend = void (*)(const CachedHead& head);

  /// @name For products of bfloat16 in pairs; null if the instruction set has none
  /// @{
  /// Packs rows of bfloat16 to panels of a product with their transpose. Word (k, row) of a panel holds numbers 2 k and
  /// 2 k + 1 of a row, which has an even number of them. Panels are `pitch` words apart; the last one is filled with 0.
  using TransposePairs = void (*)(const HeadRows& x, std::int64_t pitch, bfloat16* out);
  /// Rounds rows to bfloat16, with a 0 after an odd number of columns.
  using NarrowRows = void (*)(const FloatRows& x, std::int64_t rows, std::int64_t columns, const PairRows& out);
  /// Rounds rows to bfloat16. Word (k, column) holds that column of rows 2 k and 2 k + 1; a row of zeros is added to an
  /// odd number of rows.
  using InterleaveRows = NarrowRows;
  TransposePairs transpose_pairs;
  NarrowRows narrow_rows;
  InterleaveRows interleave_rows;
  /// @}

  PerStorage<Widen> widen;
  PerStorage<Narrow> narrow;
  PerStorage<Dots> dots;
  PerStorage<Attend> attend;
  Transpose transpose;
  Softmax softmax;
  PerStorage<Gradient> gradient;
};

MEZZO_ISA_TABLE(AttentionFunctions, attention)

Entries attention_entries();

}  // namespace mezzo::xsimd_kernels
