#include <mezzo/backends/xsimd/products.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/rounding.hpp>
#include <mezzo/backends/xsimd/row_pointers.hpp>
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Registers of one block of a product: block_rows x 2 for the sums, two for b and one for a number of a, out of 32
/// with AVX-512 and 16 without.
constexpr int panel_registers = 2;
constexpr int panel_columns = panel_registers * lanes;
constexpr int block_rows = lanes == 16 ? 12 : 6;

/// Fetches the next line, if there is one.
[[gnu::always_inline]] inline void fetch_line(Prefetch& ahead) {
  if (ahead.next >= ahead.end) return;
  fetch_to_second_level(ahead.next);
  ahead.next += ahead.step;
}

#if defined(__AVX512BF16__)
[[gnu::always_inline]] inline __m512 add_pairs(__m512 sum, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}

template <int rows, bool transposed>
[[gnu::always_inline]] inline void block_pairs(const PairProduct& p, const bfloat16* a, float* out, Prefetch& ahead) {
  __m512 sums[rows][panel_registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sums[i][0] = sums[i][1] = _mm512_setzero_ps();
  const std::int64_t next = transposed ? p.a_width / 2 : 1;
  for (std::int64_t segment = 0; segment < p.segments; ++segment) {
    // Pairs as integers of 32 bits, which RowPointers moves as floats.
    RowPointers<rows> row(reinterpret_cast<const float*>(a + segment * p.a_segment), transposed ? 1 : p.a_width / 2);
    const bfloat16* b = p.b + segment * p.b_segment;
    for (std::int64_t k = 0; k < p.pairs; ++k, b += 2 * panel_columns) {
      fetch_line(ahead);
      const __m512i left = _mm512_loadu_si512(b), right = _mm512_loadu_si512(b + 2 * lanes);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const __m512i pair = _mm512_castps_si512(_mm512_set1_ps(row.at(i)));
        sums[i][0] = add_pairs(sums[i][0], pair, left);
        sums[i][1] = add_pairs(sums[i][1], pair, right);
      }
      row.advance(next);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    float* to = out + i * p.out_width;
    if (p.accumulate) {
      sums[i][0] = _mm512_add_ps(sums[i][0], _mm512_loadu_ps(to));
      sums[i][1] = _mm512_add_ps(sums[i][1], _mm512_loadu_ps(to + lanes));
    }
    _mm512_storeu_ps(to, sums[i][0]);
    _mm512_storeu_ps(to + lanes, sums[i][1]);
  }
}

/// The last rows, fewer than a block.
template <int rows, bool transposed>
[[gnu::always_inline]] inline void rest_pairs(const PairProduct& p, const bfloat16* a, float* out, std::int64_t count,
                                              Prefetch& ahead) {
  if constexpr (rows > 0) {
    if (count == rows) return block_pairs<rows, transposed>(p, a, out, ahead);
    rest_pairs<rows - 1, transposed>(p, a, out, count, ahead);
  }
}

template <bool transposed>
[[gnu::flatten]] void panel_pairs(const PairProduct& p) {
  const std::int64_t next_row = transposed ? 2 : p.a_width;
  Prefetch ahead = p.ahead;
  std::int64_t row = 0;
  for (; row + block_rows <= p.rows; row += block_rows) {
    block_pairs<block_rows, transposed>(p, p.a + row * next_row, p.out + row * p.out_width, ahead);
  }
  rest_pairs<block_rows - 1, transposed>(p, p.a + row * next_row, p.out + row * p.out_width, p.rows - row, ahead);
}

/// Number of rows between the copied rows and the fetched rows.
constexpr std::int64_t block_rows_ahead = 8, panel_rows_ahead = 32;

/// Fetches two rows some rows further on, a line of each. An address past the end has no effect.
[[gnu::always_inline]] inline void fetch_rows(const bfloat16* from, std::int64_t width, std::int64_t rows_ahead) {
  __builtin_prefetch(from + rows_ahead * width);
  __builtin_prefetch(from + (rows_ahead + 1) * width);
}

[[gnu::always_inline]] inline __mmask32 first_columns(std::int64_t count) {
  return count >= 32 ? ~__mmask32{0} : (__mmask32{1} << count) - 1;
}

/// 0, 0, 1, 1, ... 15, 15
[[gnu::always_inline]] inline __m512i order_of_pairs() {
  alignas(64) static constexpr std::uint16_t order[] = {0, 0, 1, 1, 2,  2,  3,  3,  4,  4,  5,  5,  6,  6,  7,  7,
                                                        8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15};
  return _mm512_load_si512(order);
}

/// Two rows side by side: `lanes` pairs of one register each.
struct PairsOfRows {
  __m512i first, second;
};

/// The first numbers of two rows that are in `part`, at most 32; zeros otherwise.
[[gnu::always_inline]] inline PairsOfRows interleave(const bfloat16* even, const bfloat16* odd, __mmask32 part) {
  const __m512i low = _mm512_maskz_loadu_epi16(part, even), high = _mm512_maskz_loadu_epi16(part, odd);
  const __m512i of_low = _mm512_add_epi32(_mm512_set1_epi32(32 << 16), order_of_pairs());
  return {_mm512_permutex2var_epi16(low, of_low, high),
          _mm512_permutex2var_epi16(low, _mm512_add_epi32(of_low, _mm512_set1_epi32(lanes << 16 | lanes)), high)};
}

void pack_panels_of_pairs(const PackedRows<bfloat16>& p) {
  static const bfloat16 zeros[panel_columns] = {};
  for (std::int64_t row = 0; row < p.rows; row += 2) {
    const bfloat16* const even = p.from + row * p.width;
    const bool last = row + 1 == p.rows;
    bfloat16* to = p.to + row * panel_columns;
    for (std::int64_t column = 0; column < p.columns; column += panel_columns, to += p.pitch) {
      const bfloat16* const from = even + column;
      fetch_rows(from, p.width, panel_rows_ahead);
      const PairsOfRows pairs = interleave(from, last ? zeros : from + p.width, first_columns(p.columns - column));
      _mm512_storeu_si512(to, pairs.first);
      _mm512_storeu_si512(to + 2 * lanes, pairs.second);
    }
  }
}

/// Stores whole registers: numbers written after a block's columns are overwritten by the next row.
void pack_blocks_of_pairs(const PackedRows<bfloat16>& p) {
  static_assert(block_columns == 12 && lanes == 16);
  constexpr std::int64_t unit = 4 * block_columns;  // three registers
  static const bfloat16 zeros[unit + lanes] = {};
  for (std::int64_t row = 0; row < p.rows; row += 2) {
    const bfloat16* const even = p.from + row * p.width;
    const bool last = row + 1 == p.rows;
    bfloat16* to = p.to + row * block_columns;
    for (std::int64_t column = 0; column < p.columns; column += unit) {
      const bfloat16 *const from = even + column, *const odd = last ? zeros : from + p.width;
      fetch_rows(from, p.width, block_rows_ahead);
      fetch_rows(from + panel_columns, p.width, block_rows_ahead);
      const std::int64_t rest = p.columns - column;
      const auto [a, b] = interleave(from, odd, first_columns(rest));
      const __m512i c = rest > panel_columns
                            ? interleave(from + panel_columns, odd + panel_columns,
                                         first_columns(std::min(rest - panel_columns, unit - panel_columns)))
                                  .first
                            : _mm512_setzero_si512();
      const __m512i blocks[] = {a, _mm512_alignr_epi32(b, a, 12), _mm512_alignr_epi32(c, b, 8),
                                _mm512_alignr_epi32(c, c, 4)};
      for (int i = 0; i < 4 && i * block_columns < rest; ++i, to += p.pitch) _mm512_storeu_si512(to, blocks[i]);
    }
  }
}

constexpr ProductFunctions::OfPairs pair_product = panel_pairs<false>, transposed_pair_product = panel_pairs<true>;
constexpr PackFunctions<bfloat16> pair_packs{pack_blocks_of_pairs, pack_panels_of_pairs};
#else
constexpr ProductFunctions::OfPairs pair_product = nullptr, transposed_pair_product = nullptr;
constexpr PackFunctions<bfloat16> pair_packs{};
#endif

/// Stores sums in rows, rounded to T. `last`: columns in the last register.
template <class T, int rows, int registers>
[[gnu::always_inline]] inline void store_sums(const Floats (&sums)[rows][registers], T* out, std::int64_t width,
                                              std::int64_t last, bool past_caches) {
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    T* const to = out + i * width;
    if constexpr (registers == 2) {
      if (last == lanes) {
        store_two(to, sums[i][0], sums[i][1], past_caches);
        continue;
      }
      store(to, sums[i][0], Whole{}, past_caches);
    }
    const int j = registers - 1;
    if (last == lanes) {
      store(to + j * lanes, sums[i][j], Whole{}, past_caches);
    } else {
      store(to + j * lanes, sums[i][j], first_lanes(last), past_caches);
    }
  }
}

/// Rows of the product from `first` on.
template <int rows, int registers, bool transposed>
[[gnu::always_inline]] inline void block_product(const PanelProduct& p, std::int64_t first, Prefetch& ahead) {
  Floats sums[rows][registers], of_b[registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < registers; ++j) sums[i][j] = Floats(0.0F);
  }
  const float* const a = p.a + first * (transposed ? 1 : p.a_width);
  const std::int64_t next = transposed ? p.a_width : 1;
  for (std::int64_t segment = 0; segment < p.segments; ++segment) {
    RowPointers<rows> row(a + segment * p.a_segment, transposed ? 1 : p.a_width);
    const float* b = p.b + segment * p.b_segment;
    for (std::int64_t k = 0; k < p.depth; ++k, b += p.b_width) {
      fetch_line(ahead);
      for (int j = 0; j < registers; ++j) of_b[j] = load(b + j * lanes, Whole{});
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const Floats one(row.at(i));
        for (int j = 0; j < registers; ++j) sums[i][j] = multiply_add(one, of_b[j], sums[i][j]);
      }
      row.advance(next);
    }
  }
  const std::int64_t last = p.columns == 0 ? lanes : p.columns - (registers - 1) * lanes, place = first * p.out_width;
  if (p.accumulate) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const float* const from = p.out + place + i * p.out_width;
      for (int j = 0; j + 1 < registers; ++j) sums[i][j] += load(from + j * lanes, Whole{});
      const int j = registers - 1;
      sums[i][j] += last == lanes ? load(from + j * lanes, Whole{}) : load(from + j * lanes, first_lanes(last));
    }
  }
  if constexpr (!transposed) {
    if (p.out_bfloat16 != nullptr) return store_sums(sums, p.out_bfloat16 + place, p.out_width, last, p.past_caches);
    if (p.out_float16 != nullptr) return store_sums(sums, p.out_float16 + place, p.out_width, last, p.past_caches);
  }
  store_sums(sums, p.out + place, p.out_width, last, p.past_caches);
}

/// The last rows, fewer than a block.
template <int rows, int registers, bool transposed>
[[gnu::always_inline]] inline void rest_product(const PanelProduct& p, std::int64_t first, Prefetch& ahead) {
  if constexpr (rows > 0) {
    if (p.rows - first == rows) return block_product<rows, registers, transposed>(p, first, ahead);
    rest_product<rows - 1, registers, transposed>(p, first, ahead);
  }
}

template <int registers, bool transposed>
[[gnu::flatten]] void panel_product(const PanelProduct& p) {
  Prefetch ahead = p.ahead;
  std::int64_t row = 0;
  for (; row + block_rows <= p.rows; row += block_rows) {
    block_product<block_rows, registers, transposed>(p, row, ahead);
  }
  rest_product<block_rows - 1, registers, transposed>(p, row, ahead);
}

template <bool transposed>
void product(const PanelProduct& p) {
  const bool narrow = p.columns > 0 && p.columns <= lanes;
  narrow ? panel_product<1, transposed>(p) : panel_product<panel_registers, transposed>(p);
}

/// Stores whole registers: numbers written after a panel's columns are overwritten by the next row.
template <int columns, class T>
void pack(const PackedRows<T, float>& p) {
  const T* from = p.from;
  for (std::int64_t row = 0; row < p.rows; ++row, from += p.width) {
    float* to = p.to + row * columns;
    std::int64_t column = 0;
    for (; column + round_up(columns, lanes) <= p.columns; column += columns, to += p.pitch) {
      for (int i = 0; i < columns; i += lanes) store(to + i, load(from + column + i, Whole{}), Whole{});
    }
    for (; column < p.columns; column += columns, to += p.pitch) {
      const std::int64_t count = std::min<std::int64_t>(columns, p.columns - column);
      for (int i = 0; i < columns; i += lanes) {
        const std::int64_t rest = std::clamp<std::int64_t>(count - i, 0, lanes);
        store(to + i, rest == lanes ? load(from + column + i, Whole{}) : load(from + column + i, first_lanes(rest)),
              Whole{});
      }
    }
  }
}

}  // namespace

constexpr ProductFunctions products{
    .product = product<false>,
    .transposed_product = product<true>,
    .panel = panel_columns,
    .pack = {pack<block_columns, float>, pack<panel_columns, float>},
    .pack_bfloat16 = {pack<block_columns, bfloat16>, pack<panel_columns, bfloat16>},
    .pack_float16 = {pack<block_columns, float16>, pack<panel_columns, float16>},
    .pair_product = pair_product,
    .transposed_pair_product = transposed_pair_product,
    .pack_pairs = pair_packs,
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
