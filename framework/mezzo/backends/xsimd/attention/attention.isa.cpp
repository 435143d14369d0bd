#include <mezzo/backends/xsimd/attention/attention.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/grouped.hpp>
#include <mezzo/backends/xsimd/math.hpp>
#include <mezzo/backends/xsimd/philox.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Index = std::int64_t;

template <class T>
[[gnu::always_inline]] inline void clear(T* row, Index begin, Index end) {
  for_registers(begin, end, [&](Index i, auto part) { store(row + i, Floats(0.0F), part); });
}

template <class T>
[[gnu::flatten]] void widen(const HeadRows& x, float scale, const FloatRows& out) {
  const Floats factor(scale);
  for (Index row = 0; row < x.rows; ++row) {
    const T* from = static_cast<const T*>(x.data) + row * x.step;
    float* to = out.data + row * out.width;
    for_registers(0, x.columns, [&](Index i, auto part) { store(to + i, load(from + i, part) * factor, part); });
    clear(to, x.columns, out.width);
  }
}

[[gnu::flatten]] void transpose_rows(const FloatRows& x, Index rows, Index columns, const FloatRows& out) {
  for (Index row = 0; row < rows; row += lanes) {
    for (Index column = 0; column < columns; column += lanes) {
      Floats square[lanes];
      for (Index i = 0; i < lanes; ++i) {
        square[i] = row + i < rows ? load(x.data + (row + i) * x.width + column, Whole{}) : Floats(0.0F);
      }
      transpose(square);
      for (Index i = 0; i < lanes && column + i < columns; ++i) {
        store(out.data + (column + i) * out.width + row, square[i], Whole{});
      }
    }
  }
  const Index filled = (rows + lanes - 1) / lanes * lanes;
  for (Index column = 0; column < columns; ++column) clear(out.data + column * out.width, filled, out.width);
}

template <class T>
[[gnu::flatten]] void narrow(const FloatRows& x, float scale, const float* scales, const HeadRows& out) {
  for (Index row = 0; row < out.rows; ++row) {
    const Floats factor(scales == nullptr ? scale : scale * scales[row]);
    const float* from = x.data + row * x.width;
    T* to = static_cast<T*>(out.data) + row * out.step;
    for_registers(0, out.columns, [&](Index i, auto part) { store(to + i, load(from + i, part) * factor, part); });
  }
}

template <class T>
[[gnu::flatten]] void dots(const FloatRows& a, const HeadRows& b, float* sums) {
  for (Index row = 0; row < b.rows; ++row) {
    const float* left = a.data + row * a.width;
    const T* right = static_cast<const T*>(b.data) + row * b.step;
    Floats sum(0.0F);
    for_registers(0, b.columns,
                  [&](Index i, auto part) { sum = multiply_add(load(left + i, part), load(right + i, part), sum); });
    sums[row] = sum_lanes(sum);
  }
}

/// Masks of a row of scores: none, numbers to add, or -infinity where a boolean mask is false.
struct Unmasked {
  template <class F, class Some>
  [[gnu::always_inline]] F operator()(const F& score, Index, Some) const {
    return score;
  }
};
struct Added {
  const float* mask;
  template <class F, class Some>
  [[gnu::always_inline]] F operator()(const F& score, Index i, Some part) const {
    return score + load(mask + i, part);
  }
};
struct Selected {
  const std::uint8_t* mask;
  template <class F, class Some>
  [[gnu::always_inline]] F operator()(const F& score, Index i, Some part) const {
    return each([](const Ints& m, const Floats& x) { return choose(m > Ints(0), x, Floats(-__builtin_inff())); },
                load_ints(mask + i, part), score);
  }
};

/// Calls body(row, mask of that row) for each row.
template <class Body>
[[gnu::always_inline]] inline void for_rows(const ScoreRows& r, const Body& body) {
  for (Index row = 0; row < r.rows; ++row) {
    if (r.mask == nullptr) {
      body(row, Unmasked{});
    } else if (r.boolean_mask) {
      body(row, Selected{static_cast<const std::uint8_t*>(r.mask) + row * r.mask_step});
    } else {
      body(row, Added{static_cast<const float*>(r.mask) + row * r.mask_step});
    }
  }
}

/// Calls body(i, words, part) for each register of the weights of a row, with their random words.
template <class Body>
[[gnu::always_inline]] inline void for_words(const ScoreRows& r, const Philox& philox, Index row, Index count,
                                             const Body& body) {
  Words words[4];
  const Index first = r.first_word + row * r.words_step;
  for (Index start = 0; start < count; start += batch) {
    philox(static_cast<std::uint64_t>(first + start) / 4, words);
    Index i = start;
    for (int j = 0; j < 4 && i < count; ++j, i += lanes) {
      if (i + lanes <= count) {
        body(i, words[j], Whole{});
      } else {
        body(i, words[j], first_lanes(count - i));
      }
    }
  }
}

/// The maximum of scale score + mask. Writes these numbers to `scores`, unless they are the scores.
template <class Mask>
[[gnu::always_inline]] inline float masked_maximum(float* scores, float scale, Index count, const Mask& mask) {
  const Floats lowest(-__builtin_inff());
  Grouped all(-__builtin_inff());
  const auto add = [&](const auto& score, auto part) {
    auto& highest = part_of(all, part);
    highest = max(highest, only(score, lowest, part));
  };
  if (std::is_same_v<Mask, Unmasked> && scale == 1) {
    for_groups(0, count, [&](Index i, auto part) { add(load(scores + i, part), part); });
  } else {
    for_groups(0, count, [&](Index i, auto part) {
      const auto x = load(scores + i, part);
      const auto score = mask(x * std::decay_t<decltype(x)>(scale), i, part);
      store(scores + i, score, part);
      add(score, part);
    });
  }
  return max_lanes(all);
}

/// Writes exp(scale score + mask - maximum) to `weights`, which may be the scores. Returns their sum.
template <class Mask, class T>
[[gnu::always_inline]] inline float weigh(float* scores, float scale, Index count, const Mask& mask, T* weights,
                                          float& maximum) {
  maximum = masked_maximum(scores, scale, count, mask);
  // If all scores are -infinity, the differences from the maximum would be NaN.
  const float least = maximum == -__builtin_inff() ? 0.0F : maximum;
  Grouped sums(0.0F);
  for_groups(0, count, [&](Index i, auto part) {
    const auto score = load(scores + i, part);
    const auto weight = falling_exponential<T>(score - std::decay_t<decltype(score)>(least));
    store(weights + i, weight, part);
    auto& sum = part_of(sums, part);
    sum = sum + only(weight, Floats(0.0F), part);
  });
  return sum_lanes(sums);
}

/// Products of x with rows of as many numbers, times `scale`.
template <int rows, class T>
[[gnu::always_inline]] inline void row_products(const T* x, const T* matrix, Index size, float scale, float* products) {
  Floats sums[rows];
  for (int row = 0; row < rows; ++row) sums[row] = Floats(0.0F);
  for_registers(0, size, [&](Index i, auto part) {
    const Floats number = load(x + i, part);
    for (int row = 0; row < rows; ++row) {
      sums[row] = multiply_add(number, load(matrix + row * size + i, part), sums[row]);
    }
  });
  for (int row = 0; row < rows; ++row) products[row] = scale * sum_lanes(sums[row]);
}

/// A sum of value rows, weighted by the scores, in `registers` registers from column i on.
template <int registers, class T, class Some>
[[gnu::always_inline]] inline void weighted_sum(const CachedHead& h, Index i, const Floats& factor, Some part) {
  Floats sums[registers];
  for (int r = 0; r < registers; ++r) sums[r] = Floats(0.0F);
  const T* row = static_cast<const T*>(h.values) + i;
  const T* const fresh = static_cast<const T*>(h.value) + i;
  for (Index position = 0; position <= h.filled; ++position, row += h.value_size) {
    const Floats weight(h.scores[position]);
    const T* const from = position == h.filled ? fresh : row;
    for (int r = 0; r < registers; ++r) sums[r] = multiply_add(weight, load(from + r * lanes, part), sums[r]);
  }
  T* const out = static_cast<T*>(h.out) + i;
  for (int r = 0; r < registers; ++r) store(out + r * lanes, sums[r] * factor, part);
}

template <class T>
[[gnu::flatten]] void attend(const CachedHead& h) {
  constexpr int block = 4;
  const T* const query = static_cast<const T*>(h.query);
  const T* const keys = static_cast<const T*>(h.keys);
  Index position = 0;
  for (; position + block <= h.filled; position += block) {
    row_products<block>(query, keys + position * h.size, h.size, h.scale, h.scores + position);
  }
  for (; position < h.filled; ++position) {
    row_products<1>(query, keys + position * h.size, h.size, h.scale, h.scores + position);
  }
  row_products<1>(query, static_cast<const T*>(h.key), h.size, h.scale, h.scores + h.filled);
  float maximum = 0;
  const Floats factor(1 / weigh(h.scores, 1, h.filled + 1, Unmasked{}, h.scores, maximum));
  Index i = 0;
  for (; i + block * lanes <= h.value_size; i += block * lanes) weighted_sum<block, T>(h, i, factor, Whole{});
  for_registers(i, h.value_size, [&](Index at, auto part) { weighted_sum<1, T>(h, at, factor, part); });
}

/// Replaces maxima by logarithms, and sums by their inverses. The sum is 0 if all scores are -infinity.
[[gnu::always_inline]] inline void finish_sums(Index rows, float* logarithms, float* inverse_sums) {
  const Floats zero(0.0F), one(1.0F), infinite(__builtin_inff());
  for_registers(0, rows, [&](Index i, auto part) {
    const Floats maximum = load(logarithms + i, part), sum = load(inverse_sums + i, part);
    const auto empty = sum == zero;
    store(logarithms + i, xsimd::select(empty, infinite, maximum + xsimd::log(sum)), part);
    store(inverse_sums + i, xsimd::select(empty, zero, one / sum), part);
  });
}

/// weights_of(row): where the weights of a row are written.
template <class WeightsOf>
[[gnu::always_inline]] inline void softmax_to(const ScoreRows& r, float* logarithms, float* inverse_sums,
                                              const WeightsOf& weights_of) {
  const Index end = r.visible(r.rows - 1);
  const bool drops = r.dropout != nullptr;
  for_rows(r, [&](Index row, const auto& mask) {
    float* scores = r.scores.data + row * r.scores.width;
    const Index count = r.visible(row);
    float maximum = 0;
    const float sum = drops ? weigh(scores, r.scale, count, mask, scores, maximum)
                            : weigh(scores, r.scale, count, mask, weights_of(row), maximum);
    clear(weights_of(row), count, end + end % 2);
    logarithms[row] = maximum;
    inverse_sums[row] = sum;
  });
  finish_sums(r.rows, logarithms, inverse_sums);
  if (!drops) return;
  const Philox philox(r.dropout->stream);
  const Ints below(r.dropout->least - 1);
  const Floats divisor(r.dropout->divisor);
  for (Index row = 0; row < r.rows; ++row) {
    const float* scores = r.scores.data + row * r.scores.width;
    auto* weights = weights_of(row);
    for_words(r, philox, row, r.visible(row), [&](Index i, const Words& word, auto part) {
      store(weights + i, kept(load(scores + i, part) / divisor, word, below), part);
    });
  }
}

[[gnu::flatten]] void softmax_rows(const ScoreRows& r, float* logarithms, float* inverse_sums) {
  if (r.weights.data == nullptr) {
    softmax_to(r, logarithms, inverse_sums, [&](Index row) { return r.scores.data + row * r.scores.width; });
  } else {
    softmax_to(r, logarithms, inverse_sums, [&](Index row) { return r.weights.data + 2 * row * r.weights.width; });
  }
}

template <class T>
[[gnu::flatten]] void gradient_rows(const ScoreRows& r, const float* logarithms, const float* deltas,
                                    const FloatRows& cotangents) {
  const Index end = r.visible(r.rows - 1);
  const bool drops = r.dropout != nullptr;
  const DropoutRule rule = drops ? *r.dropout : DropoutRule{0, 0, 1};
  const Philox philox(rule.stream);
  const Ints below(rule.least - 1);
  const Floats divisor(rule.divisor);
  for_rows(r, [&](Index row, const auto& mask) {
    float* scores = r.scores.data + row * r.scores.width;
    float* of_weights = cotangents.data + row * cotangents.width;
    const Index count = r.visible(row);
    const float logarithm = logarithms[row], delta = deltas[row];
    const auto weight_at = [&](Index i, auto part) {
      const auto score = load(scores + i, part);
      using F = std::decay_t<decltype(score)>;
      return low_exponential<T>(mask(score * F(r.scale), i, part) - F(logarithm));
    };
    if (drops) {
      for_words(r, philox, row, count, [&](Index i, const Words& word, auto part) {
        const Floats weight = weight_at(i, part);
        const Floats cotangent = kept(load(of_weights + i, part) / divisor, word, below);
        store(scores + i, kept(weight / divisor, word, below), part);
        store(of_weights + i, weight * (cotangent - Floats(delta)), part);
      });
    } else {
      for_groups(0, count, [&](Index i, auto part) {
        const auto weight = weight_at(i, part);
        store(scores + i, weight, part);
        store(of_weights + i, weight * (load(of_weights + i, part) - std::decay_t<decltype(weight)>(delta)), part);
      });
    }
    clear(scores, count, end);
    clear(of_weights, count, end);
  });
}

#if defined(__AVX512BF16__)
[[gnu::flatten]] void transpose_pairs(const HeadRows& x, Index pitch, bfloat16* out) {
  constexpr Index panel = 2 * lanes;
  const Index words = x.columns / 2;
  for (Index first = 0; first < x.rows; first += lanes) {
    for (Index word = 0; word < words; word += lanes) {
      const Part part = first_lanes(std::min<Index>(lanes, words - word));
      Floats square[lanes];
      for (Index i = 0; i < lanes; ++i) {
        // Words are moved as floats, whose bits no move changes.
        const auto* from = static_cast<const bfloat16*>(x.data) + (first + i) * x.step + 2 * word;
        square[i] = first + i < x.rows ? _mm512_maskz_loadu_ps(part.mask, from) : _mm512_setzero_ps();
      }
      transpose(square);
      float* to = reinterpret_cast<float*>(out) + first / panel * pitch + word * panel + first % panel;
      for (Index i = 0; i < part.count; ++i) store(to + i * panel, square[i], Whole{});
    }
  }
  if ((x.rows + lanes - 1) / lanes % 2 == 0) return;
  float* to = reinterpret_cast<float*>(out) + x.rows / panel * pitch + lanes;
  for (Index word = 0; word < words; ++word) store(to + word * panel, Floats(0.0F), Whole{});
}

[[gnu::flatten]] void narrow_rows(const FloatRows& x, Index rows, Index columns, const PairRows& out) {
  for (Index row = 0; row < rows; ++row) {
    const float* from = x.data + row * x.width;
    bfloat16* to = out.data + 2 * row * out.width;
    for_registers(0, columns, [&](Index i, auto part) { store(to + i, load(from + i, part), part); });
    if (columns % 2 != 0) to[columns] = bfloat16(0.0F);
  }
}

[[gnu::flatten]] void interleave_rows(const FloatRows& x, Index rows, Index columns, const PairRows& out) {
  for (Index row = 0; row < rows; row += 2) {
    const float* even = x.data + row * x.width;
    float* to = reinterpret_cast<float*>(out.data) + row / 2 * out.width;
    const bool last = row + 1 == rows;
    for_registers(0, columns, [&](Index i, auto part) {
      const __m512i low = _mm512_cvtepu16_epi32(round_to_bfloat16(load(even + i, part).data));
      const __m512i high =
          last ? _mm512_setzero_si512() : _mm512_cvtepu16_epi32(round_to_bfloat16(load(even + x.width + i, part).data));
      store(to + i, Floats(_mm512_castsi512_ps(_mm512_or_si512(low, _mm512_slli_epi32(high, 16)))), part);
    });
  }
}
#else
constexpr AttentionFunctions::TransposePairs transpose_pairs = nullptr;
constexpr AttentionFunctions::NarrowRows narrow_rows = nullptr, interleave_rows = nullptr;
#endif

}  // namespace

constexpr AttentionFunctions attention{
    .transpose_pairs = transpose_pairs,
    .narrow_rows = narrow_rows,
    .interleave_rows = interleave_rows,
    .widen = {.float32 = widen<float>, .bfloat16 = widen<bfloat16>, .float16 = widen<float16>},
    .narrow = {.float32 = narrow<float>, .bfloat16 = narrow<bfloat16>, .float16 = narrow<float16>},
    .dots = {.float32 = dots<float>, .bfloat16 = dots<bfloat16>, .float16 = dots<float16>},
    .attend = {.float32 = attend<float>, .bfloat16 = attend<bfloat16>, .float16 = attend<float16>},
    .transpose = transpose_rows,
    .softmax = softmax_rows,
    .gradient = {gradient_rows<float>, gradient_rows<bfloat16>, gradient_rows<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
