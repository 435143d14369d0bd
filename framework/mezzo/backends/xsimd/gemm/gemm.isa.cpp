#include <mezzo/backends/xsimd/gemm/gemm.hpp>

#include <algorithm>
#include <type_traits>

#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/rounding.hpp>
#include <mezzo/backends/xsimd/row_pointers.hpp>
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Registers of a block: gemm_rows x 2 for the sums, two for b and one for a number of a, out of 32 with AVX-512 and 16
/// without.
constexpr int gemm_registers = 2;
constexpr int gemm_columns = gemm_registers * lanes;
constexpr int gemm_rows = lanes == 16 ? 12 : 6;

[[gnu::always_inline]] inline void fetch_ahead(RowsAhead& ahead, std::int64_t lines) {
  constexpr int line = 64;
  for (; lines > 0 && ahead.rows > 0; --lines) {
    fetch_to_second_level(ahead.row + ahead.at);
    ahead.at += line;
    if (ahead.at < ahead.bytes) continue;
    ahead.at = 0;
    ahead.row += ahead.pitch;
    --ahead.rows;
  }
}

/// Rows of a left factor that is packed in blocks.
struct BlockRows {
  const float* numbers;
  [[gnu::always_inline]] BlockRows(const float* a, std::int64_t) : numbers(a) {}
  [[gnu::always_inline]] float at(int i) const { return numbers[i]; }
  [[gnu::always_inline]] void advance(std::int64_t) { numbers += gemm_rows; }
};

/// Writes the first p.columns columns of a block of sums that begins at `first`. `to`: the place of the results, in
/// float32 or bfloat16.
template <int rows, int registers, class T>
[[gnu::always_inline]] inline void finish_sums(const GemmPanel& p, std::int64_t first, Floats (&sums)[rows][registers],
                                               T* to, std::int64_t width) {
  const Floats least(p.least);
  const std::int64_t last = p.columns - (registers - 1) * lanes;  // columns in the last register
  const auto finish = [&](int i, int j, auto part) __attribute__((always_inline)) {
    const std::int64_t column = j * lanes;
    Floats sum = sums[i][j];
    if (p.accumulate) sum += load(p.sums + (first + i) * p.sums_width + column, part);
    if (p.bias != nullptr) sum += load(p.bias + column, part);
    // max returns its second operand if one is NaN.
    store(to + (first + i) * width + column, xsimd::max(least, sum), part);
  };
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < registers; ++j) {
      if (j + 1 < registers || last == lanes) {
        finish(i, j, Whole{});
      } else {
        finish(i, j, first_lanes(last));
      }
    }
  }
}

#if defined(__AVX2__) && !defined(__AVX512BW__)
/// finish_sums() for whole panels of bfloat16. One test of all sums replaces one for each register.
template <int rows>
[[gnu::always_inline]] inline void finish_halves(const GemmPanel& p, std::int64_t first, Floats (&sums)[rows][2]) {
  const Floats least(p.least);
  __m256 unordered = _mm256_setzero_ps();
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < 2; ++j) {
      if (p.accumulate) sums[i][j] += load(p.sums + (first + i) * p.sums_width + j * lanes, Whole{});
      if (p.bias != nullptr) sums[i][j] += load(p.bias + j * lanes, Whole{});
      sums[i][j] = xsimd::max(least, sums[i][j]);  // max returns its second operand if one is NaN
    }
    unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(sums[i][0], sums[i][1], _CMP_UNORD_Q));
  }
  const bool numbers = _mm256_testz_ps(unordered, unordered) != 0;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    bfloat16* const to = p.rounded + (first + i) * p.rounded_width;
    if (numbers) {
      store_numbers(to, sums[i][0].data, sums[i][1].data);
    } else {
      for (int j = 0; j < 2; ++j) store(to + j * lanes, sums[i][j], Whole{});
    }
  }
}
#endif

template <int rows, int registers, class Rows>
[[gnu::always_inline]] inline void gemm_block(const GemmPanel& p, const float* a, std::int64_t first) {
  constexpr int to_write = 1;
  Floats sums[rows][registers], of_b[registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    if (p.rounded != nullptr) {
      __builtin_prefetch(p.rounded + (first + i) * p.rounded_width, to_write);
    } else {
      __builtin_prefetch(p.sums + (first + i) * p.sums_width, to_write);
    }
    for (int j = 0; j < registers; ++j) sums[i][j] = Floats(0.0F);
  }
  fetch_ahead(*p.ahead, p.lines);
  Rows row(a, p.a_width);
  const float* b = p.b;
  for (std::int64_t k = 0; k < p.depth; ++k, b += gemm_columns) {
    for (int j = 0; j < registers; ++j) of_b[j] = load(b + j * lanes, Whole{});
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Floats one(row.at(i));
      for (int j = 0; j < registers; ++j) sums[i][j] = multiply_add(one, of_b[j], sums[i][j]);
    }
    row.advance(1);
  }
  if (p.rounded != nullptr) {
#if defined(__AVX2__) && !defined(__AVX512BW__)
    if constexpr (registers == 2) {
      if (p.columns == gemm_columns) return finish_halves(p, first, sums);
    }
#endif
    finish_sums(p, first, sums, p.rounded, p.rounded_width);
  } else {
    finish_sums(p, first, sums, p.sums, p.sums_width);
  }
}

template <int registers, bool packed, int rows = gemm_rows>
[[gnu::always_inline]] inline void gemm_block_of(const GemmPanel& p, const float* a, std::int64_t first,
                                                 std::int64_t count) {
  if (count == rows) {
    return gemm_block<rows, registers, std::conditional_t<packed, BlockRows, RowPointers<rows>>>(p, a, first);
  }
  if constexpr (rows > 1) gemm_block_of<registers, packed, rows - 1>(p, a, first, count);
}

template <int registers, bool packed>
[[gnu::flatten]] void gemm_panel(const GemmPanel& p) {
  const std::int64_t blocks = gemm_blocks(p.rows, gemm_rows);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t first = p.rows * i / blocks;
    gemm_block_of<registers, packed>(p, p.a + (packed ? i : first) * p.a_width, first,
                                     p.rows * (i + 1) / blocks - first);
  }
}

template <bool packed>
void gemm_product(const GemmPanel& p) {
  p.columns <= lanes ? gemm_panel<1, packed>(p) : gemm_panel<gemm_registers, packed>(p);
}

/// Number of blocks of rows that are packed at a time.
constexpr std::int64_t blocks_together = 4;

/// Packs blocks of rows that begin at `first`. Stores whole registers: numbers written after a block's rows are
/// overwritten by the next step of depth. `whole`: all registers may be read.
template <class T, bool whole, int blocks>
[[gnu::always_inline]] inline void pack_blocks(const GemmPiece& p, const std::int64_t* first, float* to) {
  std::int64_t starts[blocks];
  for (int i = 0; i < blocks; ++i) starts[i] = first[i];
  const T* from = static_cast<const T*>(p.from);
  for (std::int64_t k = 0; k < p.depth; ++k, from += p.width, to += gemm_rows) {
    for (int i = 0; i < blocks; ++i) {
      for (int j = 0; j < gemm_rows; j += lanes) {
        const T* const row = from + starts[i] + j;
        if constexpr (whole) {
          store(to + i * p.pitch + j, load(row, Whole{}), Whole{});
        } else {
          const std::int64_t count = std::clamp<std::int64_t>(p.count - starts[i] - j, 0, lanes);
          store(to + i * p.pitch + j, load(row, first_lanes(count)), Whole{});
        }
      }
    }
  }
}

template <class T>
void pack_rows(const GemmPiece& p) {
  const T* from = static_cast<const T*>(p.from);
  float* to = p.to;
  for (std::int64_t row = 0; row < p.count; ++row, from += p.width, to += p.pitch) {
    for_registers(0, p.depth, [&](std::int64_t k, auto part) { store(to + k, load(from + k, part), part); });
  }
}

template <class T>
void pack_left(const GemmPiece& p) {
  constexpr std::int64_t reach = (gemm_rows + lanes - 1) / lanes * lanes;
  const std::int64_t blocks = gemm_blocks(p.count, gemm_rows);
  for (std::int64_t i = 0; i < blocks; i += blocks_together) {
    const std::int64_t count = std::min(blocks_together, blocks - i);
    std::int64_t first[blocks_together] = {};
    for (std::int64_t j = 0; j < count; ++j) first[j] = p.count * (i + j) / blocks;
    float* const to = p.to + i * p.pitch;
    const bool whole = first[count - 1] + reach <= p.readable;
    if (whole && count == blocks_together) {
      pack_blocks<T, true, blocks_together>(p, first, to);
      continue;
    }
    for (std::int64_t j = 0; j < count; ++j) {
      whole ? pack_blocks<T, true, 1>(p, first + j, to + j * p.pitch)
            : pack_blocks<T, false, 1>(p, first + j, to + j * p.pitch);
    }
  }
}

/// Distance at which pack_panels() fetches rows that share few sets of the L2 cache, a multiple of 4 KiB apart. Of
/// those that RowsAhead fetched before the last products, the cache no longer holds all.
constexpr std::int64_t packed_ahead = 16;

template <class T>
[[gnu::always_inline]] inline void fetch_row(const T* from, std::int64_t count) {
  constexpr std::int64_t line = 64 / sizeof(T);
  for (std::int64_t at = 0; at < count; at += line) fetch_to_second_level(from + at);
}

template <class T, bool rounds>
void pack_panels(const GemmPiece& p) {
  const std::int64_t whole = p.count / gemm_columns * gemm_columns;
  constexpr std::int64_t page = 4096 / sizeof(T);
  const std::int64_t fetched = p.width % page == 0 ? p.depth - packed_ahead : 0;
  Floats row[gemm_registers];
  const auto write = [&](float* to) __attribute__((always_inline)) {
    if constexpr (rounds) round_all<mezzo::bfloat16>(row);
    for (int j = 0; j < gemm_registers; ++j) store(to + j * lanes, row[j], Whole{});
  };
  for (std::int64_t k = 0; k < p.depth; ++k) {
    const T* const from = static_cast<const T*>(p.from) + k * p.width;
    float* to = p.to + k * gemm_columns;
    if (k < fetched) fetch_row(from + packed_ahead * p.width, p.count);
    for (std::int64_t column = 0; column < whole; column += gemm_columns, to += p.pitch) {
      for (int j = 0; j < gemm_registers; ++j) row[j] = load(from + column + j * lanes, Whole{});
      write(to);
    }
    if (whole == p.count) continue;
    for (int j = 0; j < gemm_registers; ++j) {
      const std::int64_t count = std::clamp<std::int64_t>(p.count - whole - j * lanes, 0, lanes);
      row[j] = load(from + whole + j * lanes, first_lanes(count));
    }
    write(to);
  }
}

/// Transposes squares of `lanes` numbers. Rows behind the last one are 0.
template <class T, bool rounds, class Some>
[[gnu::always_inline]] inline void turn_square(const T* from, std::int64_t width, std::int64_t rows, float* to,
                                               Some part) {
  Floats square[lanes];
  for (int i = 0; i < lanes; ++i) square[i] = i < rows ? load(from + i * width, part) : Floats(0.0F);
  if constexpr (rounds) round_all<mezzo::bfloat16>(square);
  transpose(square);
  for (int i = 0; i < lanes_of(part); ++i) store(to + i * gemm_columns, square[i], Whole{});
}

template <class T, bool rounds>
void pack_transposed_panels(const GemmPiece& p) {
  const T* const from = static_cast<const T*>(p.from);
  for (std::int64_t column = 0; column < p.count; column += gemm_columns) {
    float* const to = p.to + column / gemm_columns * p.pitch;
    for_registers(0, p.depth, [&](std::int64_t k, auto part) {
      for (int j = 0; j < gemm_columns; j += lanes) {
        const std::int64_t rows = std::clamp<std::int64_t>(p.count - column - j, 0, lanes);
        turn_square<T, rounds>(from + (column + j) * p.width + k, p.width, rows, to + k * gemm_columns + j, part);
      }
    });
  }
}

template <class T>
void pack_right(const GemmPiece& p) {
  p.rounds ? pack_panels<float, true>(p) : pack_panels<T, false>(p);
}

template <class T>
void pack_transposed_right(const GemmPiece& p) {
  p.rounds ? pack_transposed_panels<float, true>(p) : pack_transposed_panels<T, false>(p);
}

template <class T>
constexpr GemmPacking packing{
    .rows = pack_rows<T>,
    .left = pack_left<T>,
    .right = pack_right<T>,
    .transposed_right = pack_transposed_right<T>,
};

}  // namespace

constexpr GemmFunctions gemm{
    .product = gemm_product<false>,
    .packed_product = gemm_product<true>,
    .float32 = packing<float>,
    .bfloat16 = packing<mezzo::bfloat16>,
    .rows = gemm_rows,
    .panel = gemm_columns,
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
