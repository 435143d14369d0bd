#include <mezzo/backends/xsimd/gemm/gemm.hpp>

#include <algorithm>
#include <type_traits>

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
  constexpr int to_read = 0, second_level = 2, line = 64;
  for (; lines > 0 && ahead.rows > 0; --lines) {
    __builtin_prefetch(ahead.row + ahead.at, to_read, second_level);
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

[[gnu::always_inline]] inline void finish_sum(const GemmPanel& p, float* to, int column, Floats sum,
                                              const Floats& least, auto part) {
  if (p.accumulate) sum += load(to, part);
  if (p.bias != nullptr) sum += load(p.bias + column, part);
  store(to, xsimd::max(least, sum), part);  // max returns its second operand if one is NaN
}

template <int rows, int registers, class Rows>
[[gnu::always_inline]] inline void gemm_block(const GemmPanel& p, const float* a, float* out) {
  constexpr int to_write = 1;
  Floats sums[rows][registers], of_b[registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    __builtin_prefetch(out + i * p.out_width, to_write);
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
  const Floats least(p.least);
  const std::int64_t last = p.columns - (registers - 1) * lanes;  // columns in the last register
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < registers; ++j) {
      float* const to = out + i * p.out_width + j * lanes;
      if (j + 1 < registers || last == lanes) {
        finish_sum(p, to, j * lanes, sums[i][j], least, Whole{});
      } else {
        finish_sum(p, to, j * lanes, sums[i][j], least, first_lanes(last));
      }
    }
  }
}

template <int registers, bool packed, int rows = gemm_rows>
[[gnu::always_inline]] inline void gemm_block_of(const GemmPanel& p, const float* a, float* out, std::int64_t count) {
  if (count == rows) {
    return gemm_block<rows, registers, std::conditional_t<packed, BlockRows, RowPointers<rows>>>(p, a, out);
  }
  if constexpr (rows > 1) gemm_block_of<registers, packed, rows - 1>(p, a, out, count);
}

template <int registers, bool packed>
[[gnu::flatten]] void gemm_panel(const GemmPanel& p) {
  const std::int64_t blocks = gemm_blocks(p.rows, gemm_rows);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t first = p.rows * i / blocks;
    gemm_block_of<registers, packed>(p, p.a + (packed ? i : first) * p.a_width, p.out + first * p.out_width,
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
template <bool whole, int blocks>
[[gnu::always_inline]] inline void pack_blocks(const GemmPiece& p, const std::int64_t* first, float* to) {
  std::int64_t starts[blocks];
  for (int i = 0; i < blocks; ++i) starts[i] = first[i];
  const float* from = p.from;
  for (std::int64_t k = 0; k < p.depth; ++k, from += p.width, to += gemm_rows) {
    for (int i = 0; i < blocks; ++i) {
      for (int j = 0; j < gemm_rows; j += lanes) {
        const float* const row = from + starts[i] + j;
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
      pack_blocks<true, blocks_together>(p, first, to);
      continue;
    }
    for (std::int64_t j = 0; j < count; ++j) {
      whole ? pack_blocks<true, 1>(p, first + j, to + j * p.pitch)
            : pack_blocks<false, 1>(p, first + j, to + j * p.pitch);
    }
  }
}

void pack_right(const GemmPiece& p) {
  const std::int64_t whole = p.count / gemm_columns * gemm_columns;
  for (std::int64_t k = 0; k < p.depth; ++k) {
    const float* const from = p.from + k * p.width;
    float* to = p.to + k * gemm_columns;
    for (std::int64_t column = 0; column < whole; column += gemm_columns, to += p.pitch) {
      for (int j = 0; j < gemm_columns; j += lanes) store(to + j, load(from + column + j, Whole{}), Whole{});
    }
    if (whole == p.count) continue;
    for (int j = 0; j < gemm_columns; j += lanes) {
      const std::int64_t count = std::clamp<std::int64_t>(p.count - whole - j, 0, lanes);
      store(to + j, load(from + whole + j, first_lanes(count)), Whole{});
    }
  }
}

/// Transposes squares of `lanes` numbers. Rows behind the last one are 0.
template <class Some>
[[gnu::always_inline]] inline void turn_square(const float* from, std::int64_t width, std::int64_t rows, float* to,
                                               Some part) {
  Floats square[lanes];
  for (int i = 0; i < lanes; ++i) square[i] = i < rows ? load(from + i * width, part) : Floats(0.0F);
  transpose(square);
  for (int i = 0; i < lanes_of(part); ++i) store(to + i * gemm_columns, square[i], Whole{});
}

void pack_transposed_right(const GemmPiece& p) {
  for (std::int64_t column = 0; column < p.count; column += gemm_columns) {
    float* const to = p.to + column / gemm_columns * p.pitch;
    for_registers(0, p.depth, [&](std::int64_t k, auto part) {
      for (int j = 0; j < gemm_columns; j += lanes) {
        const std::int64_t rows = std::clamp<std::int64_t>(p.count - column - j, 0, lanes);
        turn_square(p.from + (column + j) * p.width + k, p.width, rows, to + k * gemm_columns + j, part);
      }
    });
  }
}

}  // namespace

constexpr GemmFunctions gemm{
    .product = gemm_product<false>,
    .packed_product = gemm_product<true>,
    .pack_left = pack_left,
    .pack_right = pack_right,
    .pack_transposed_right = pack_transposed_right,
    .rows = gemm_rows,
    .panel = gemm_columns,
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
