#include <mezzo/backends/xsimd/packed/packed.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/row_pointers.hpp>
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Registers of a block: most_packed_rows x 2 for the sums, two for the panel and one for a number of x, out of 32 with
/// AVX-512 and 16 without.
constexpr int most_packed_rows = lanes == 16 ? 12 : 6;
constexpr int packed_registers = 2;

/// A word of x, one number of 32 bits or two of 16 bits, times the words of a register of the panel.
struct FloatWords {
  using Storage = float;
  static constexpr std::int64_t numbers = 1;
  [[gnu::always_inline]] static Floats add(const Floats& sum, float word, const float* panel) {
    return multiply_add(Floats(word), load(panel, Whole{}), sum);
  }
};

#if defined(__AVX512BF16__)
struct PairWords {
  using Storage = bfloat16;
  static constexpr std::int64_t numbers = 2;
  [[gnu::always_inline]] static Floats add(const Floats& sum, float word, const float* panel) {
    return Floats(_mm512_dpbf16_ps(sum.data, (__m512bh)_mm512_castps_si512(_mm512_set1_ps(word)),
                                   (__m512bh)_mm512_loadu_si512(panel)));
  }
};
#endif

template <class T>
[[gnu::always_inline]] inline void finish_row(const PackedProduct& p, std::int64_t place, int column, const Floats& sum,
                                              const Floats& least, const Floats& most, auto part) {
  Floats y = sum;
  if (p.residual != nullptr) y += load(static_cast<const T*>(p.residual) + place + column, part);
  // max and min return their second operand if one is NaN.
  store(static_cast<T*>(p.out) + place + column, xsimd::min(most, xsimd::max(least, y)), part);
}

/// Some rows of the product, from `first` on, with `at_once` sums for each output.
template <class Words, int rows, int registers, int at_once = 1>
[[gnu::always_inline]] inline void packed_block(const PackedProduct& p, std::int64_t first) {
  using T = typename Words::Storage;
  constexpr std::int64_t width = packed_registers * lanes;
  Floats sums[at_once][rows][registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < registers; ++j) {
      sums[0][i][j] = load(p.bias + j * lanes, Whole{});
      for (int part = 1; part < at_once; ++part) sums[part][i][j] = Floats(0.0F);
    }
  }
  const std::int64_t words = p.depth / Words::numbers;
  const float* panel = static_cast<const float*>(p.panel);
  const T* const x = static_cast<const T*>(p.x) + first * p.x_width;
  for (std::int64_t segment = 0; segment < p.segments; ++segment) {
    RowPointers<rows> row(reinterpret_cast<const float*>(x + segment * p.x_segment), p.x_width / Words::numbers);
    const auto add = [&](int part) {
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) {
        const float word = row.at(i);
        for (int j = 0; j < registers; ++j) {
          sums[part][i][j] = Words::add(sums[part][i][j], word, panel + j * lanes);
        }
      }
      row.advance(1);
      panel += width;
    };
    std::int64_t k = 0;
    for (; k + at_once <= words; k += at_once) {
#pragma GCC unroll 4
      for (int part = 0; part < at_once; ++part) add(part);
    }
    for (; k < words; ++k) add(0);
  }
  const Floats least(p.least), most(p.most);
  const std::int64_t last = p.columns - (registers - 1) * lanes;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    const std::int64_t place = (first + i) * p.out_width;
    for (int j = 0; j < registers; ++j) {
      Floats sum = sums[0][i][j];
      for (int part = 1; part < at_once; ++part) sum += sums[part][i][j];
      if (j + 1 < registers || last == lanes) {
        finish_row<T>(p, place, j * lanes, sum, least, most, Whole{});
      } else {
        finish_row<T>(p, place, j * lanes, sum, least, most, first_lanes(last));
      }
    }
  }
}

template <class Words, int registers, int rows = most_packed_rows>
[[gnu::always_inline]] inline void block_of(const PackedProduct& p, std::int64_t first, std::int64_t count) {
  if (count == rows) return packed_block<Words, rows, registers>(p, first);
  if constexpr (rows > 1) block_of<Words, registers, rows - 1>(p, first, count);
}

/// Blocks of nearly equal numbers of rows.
template <class Words, int registers>
[[gnu::flatten]] void packed_panel(const PackedProduct& p) {
  const std::int64_t blocks = (p.rows + most_packed_rows - 1) / most_packed_rows;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t first = p.rows * i / blocks;
    block_of<Words, registers>(p, first, p.rows * (i + 1) / blocks - first);
  }
}

template <class Words, int registers>
[[gnu::flatten]] void packed_rows(const PackedProduct& p) {
  static_assert(most_few_rows == 3);
  if (p.rows == 1) return packed_block<Words, 1, registers, 4>(p, 0);
  if (p.rows == 2) return packed_block<Words, 2, registers, 2>(p, 0);
  packed_block<Words, 3, registers, 2>(p, 0);
}

template <class Words>
void packed_product(const PackedProduct& p) {
  if (p.few_rows) return p.columns <= lanes ? packed_rows<Words, 1>(p) : packed_rows<Words, packed_registers>(p);
  p.columns <= lanes ? packed_panel<Words, 1>(p) : packed_panel<Words, packed_registers>(p);
}

}  // namespace

constexpr PackedFunctions packed {
  .float32 = packed_product<FloatWords>,
#if defined(__AVX512BF16__)
  .bfloat16 = packed_product<PairWords>,
#else
  .bfloat16 = nullptr,
#endif
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
