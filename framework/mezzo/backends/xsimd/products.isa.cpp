#include <mezzo/backends/xsimd/products.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Registers of one block of a product: block_rows x 2 for the sums, two for b and one for a number of a, out of 32
/// with AVX-512 and 16 without.
constexpr int panel_registers = 2;
constexpr int panel_columns = panel_registers * lanes;
constexpr int block_rows = lanes == 16 ? 12 : 6;

/// Row i of a at the current depth. Every third row has a pointer; the two rows after it are addressed by one or two
/// steps from it, which the addressing modes allow. One pointer a row would need too many integer registers.
template <int rows>
struct RowPointers {
  const float* groups[(rows + 2) / 3];
  std::int64_t step;

  [[gnu::always_inline]] RowPointers(const float* a, std::int64_t next_row) : step(next_row) {
    for (int i = 0; i < (rows + 2) / 3; ++i) groups[i] = a + 3 * i * next_row;
  }
  [[gnu::always_inline]] float at(int i) const { return groups[i / 3][i % 3 * step]; }
  [[gnu::always_inline]] void advance(std::int64_t next) {
    for (const float*& group : groups) group += next;
  }
};

#if defined(__AVX512BF16__)
[[gnu::always_inline]] inline __m512 add_pairs(__m512 sum, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}

template <int rows>
[[gnu::always_inline]] inline void block_pairs(const PairProduct& p, const bfloat16* a, float* out) {
  __m512 sums[rows][panel_registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sums[i][0] = sums[i][1] = _mm512_setzero_ps();
  // Pairs as integers of 32 bits, which RowPointers moves as floats.
  RowPointers<rows> row(reinterpret_cast<const float*>(a), p.a_width / 2);
  const bfloat16* b = p.b;
  for (std::int64_t k = 0; k < p.pairs; ++k, b += 2 * panel_columns) {
    const __m512i left = _mm512_loadu_si512(b), right = _mm512_loadu_si512(b + 2 * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const __m512i pair = _mm512_castps_si512(_mm512_set1_ps(row.at(i)));
      sums[i][0] = add_pairs(sums[i][0], pair, left);
      sums[i][1] = add_pairs(sums[i][1], pair, right);
    }
    row.advance(1);
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    _mm512_storeu_ps(out + i * p.out_width, sums[i][0]);
    _mm512_storeu_ps(out + i * p.out_width + lanes, sums[i][1]);
  }
}

/// The last rows, fewer than a block.
template <int rows>
[[gnu::always_inline]] inline void rest_pairs(const PairProduct& p, const bfloat16* a, float* out, std::int64_t count) {
  if constexpr (rows > 0) {
    if (count == rows) return block_pairs<rows>(p, a, out);
    rest_pairs<rows - 1>(p, a, out, count);
  }
}

[[gnu::flatten]] void panel_pairs(const PairProduct& p) {
  std::int64_t row = 0;
  for (; row + block_rows <= p.rows; row += block_rows) {
    block_pairs<block_rows>(p, p.a + row * p.a_width, p.out + row * p.out_width);
  }
  rest_pairs<block_rows - 1>(p, p.a + row * p.a_width, p.out + row * p.out_width, p.rows - row);
}
#else
constexpr void (*panel_pairs)(const PairProduct&) = nullptr;
#endif

template <int rows, bool transposed>
[[gnu::always_inline]] inline void block_product(const PanelProduct& p, const float* a, float* out) {
  Floats sums[rows][panel_registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sums[i][0] = sums[i][1] = Floats(0.0F);
  RowPointers<rows> row(a, transposed ? 1 : p.a_width);
  const std::int64_t next = transposed ? p.a_width : 1;
  const float* b = p.b;
  for (std::int64_t k = 0; k < p.depth; ++k, b += p.b_width) {
    const Floats left = load(b, Whole{}), right = load(b + lanes, Whole{});
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Floats one(row.at(i));
      sums[i][0] = multiply_add(one, left, sums[i][0]);
      sums[i][1] = multiply_add(one, right, sums[i][1]);
    }
    row.advance(next);
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    float* to = out + i * p.out_width;
    if (p.accumulate) {
      sums[i][0] += load(to, Whole{});
      sums[i][1] += load(to + lanes, Whole{});
    }
    store(to, sums[i][0], Whole{});
    store(to + lanes, sums[i][1], Whole{});
  }
}

/// The last rows, fewer than a block.
template <int rows, bool transposed>
[[gnu::always_inline]] inline void rest_product(const PanelProduct& p, const float* a, float* out, std::int64_t count) {
  if constexpr (rows > 0) {
    if (count == rows) return block_product<rows, transposed>(p, a, out);
    rest_product<rows - 1, transposed>(p, a, out, count);
  }
}

template <bool transposed>
[[gnu::flatten]] void panel_product(const PanelProduct& p) {
  const std::int64_t next_row = transposed ? 1 : p.a_width;
  std::int64_t row = 0;
  for (; row + block_rows <= p.rows; row += block_rows) {
    block_product<block_rows, transposed>(p, p.a + row * next_row, p.out + row * p.out_width);
  }
  rest_product<block_rows - 1, transposed>(p, p.a + row * next_row, p.out + row * p.out_width, p.rows - row);
}

/// Stores whole registers: what they write after a panel's columns is overwritten by the next row.
template <int columns>
void pack(const PackedRows& p) {
  const float* from = p.from;
  for (std::int64_t row = 0; row < p.rows; ++row, from += p.columns) {
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
    .product = panel_product<false>,
    .transposed_product = panel_product<true>,
    .panel = panel_columns,
    .pack_blocks = pack<block_columns>,
    .pack_panels = pack<panel_columns>,
    .pair_product = panel_pairs,
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
