#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/dropout.hpp>
#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// A matrix of float32 whose rows lie `width` numbers apart; width is a multiple of a register's lanes, and what is
/// behind the columns may be read and written.
struct FloatRows {
  float* data = nullptr;
  std::int64_t width = 0;
};

/// Rows of an operand of attention, positions of one head.
struct HeadRows {
  void* data = nullptr;
  std::int64_t step = 0;  ///< elements from row to row
  std::int64_t rows = 0, columns = 0;
};

/// The scores of some queries that follow each other.
struct ScoreRows {
  FloatRows scores;
  std::int64_t rows = 0, keys = 0;
  std::int64_t first_query = 0;
  bool causal = false;
  const void* mask = nullptr;  ///< of the first query; bool or float32
  bool boolean_mask = false;
  std::int64_t mask_step = 0;  ///< elements from query to query
  const DropoutRule* dropout = nullptr;
  std::int64_t first_word = 0, words_step = 0;  ///< see AttentionShape

  /// Number of keys that a row may see without a mask. Always inlined, since kernels of several instruction sets use
  /// it.
  [[gnu::always_inline]] std::int64_t visible(std::int64_t row) const {
    const std::int64_t past = first_query + row + 1;
    return causal && past < keys ? past : keys;
  }
};

struct AttentionFunctions {
  /// Rows times `scale` in float32, with 0 in the columns behind.
  using Widen = void (*)(const HeadRows& x, float scale, const FloatRows& out);
  /// Their transpose, of as many rows as x has columns, with 0 in the columns behind.
  using Transpose = void (*)(const FloatRows& x, std::int64_t rows, std::int64_t columns, const FloatRows& out);
  /// Rows of an operand from float32 ones times `scale`, and times scales[row] if there are some.
  using Narrow = void (*)(const FloatRows& x, float scale, const float* scales, const HeadRows& out);
  /// The sum of the products of two rows, for each.
  using Dots = void (*)(const FloatRows& a, const HeadRows& b, float* sums);
  /// Scores to exp(score - maximum), with dropout, 0 for keys that are not visible to a query but to the last one;
  /// logarithms of the sums of exp(score), and 1 / sum of exp(score - maximum), of what was not dropped yet.
  using Softmax = void (*)(const ScoreRows& rows, float* logarithms, float* inverse_sums);
  /// Scores to weights, with dropout, and the cotangents of the weights to those of the scores.
  using Gradient = void (*)(const ScoreRows& rows, const float* logarithms, const float* deltas,
                            const FloatRows& cotangents);

  PerStorage<Widen> widen;
  PerStorage<Narrow> narrow;
  PerStorage<Dots> dots;
  Transpose transpose;
  Softmax softmax;
  Gradient gradient;
};

namespace sse2 {
extern const AttentionFunctions attention;
}
namespace avx2 {
extern const AttentionFunctions attention;
}
namespace avx512 {
extern const AttentionFunctions attention;
}
namespace avx512_bf16 {
extern const AttentionFunctions attention;
}

}  // namespace mezzo::xsimd_kernels
