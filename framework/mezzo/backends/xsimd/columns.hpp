#pragma once
// Loops over the columns of a dense array of rows, for .isa.cpp files, in pieces of a few rows and a few registers of
// columns. This keeps sums in registers, and prefetches cache lines one piece of rows ahead.
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Rows of a piece: few enough for sums in float.
constexpr std::int64_t piece_rows = 64;

/// Registers of columns that are processed together.
constexpr int wide = 4;

template <int count>
struct Registers {
  static constexpr int size = count;
};

/// Calls body(first row, rows, first column, Registers<1 or wide>, part) for all pieces.
template <class Body>
[[gnu::always_inline]] inline void for_pieces(std::int64_t rows, std::int64_t columns, const Body& body) {
  for (std::int64_t row = 0; row < rows; row += piece_rows) {
    const std::int64_t count = rows - row < piece_rows ? rows - row : piece_rows;
    std::int64_t column = 0;
    for (; column + wide * lanes <= columns; column += wide * lanes) {
      body(row, count, column, Registers<wide>{}, Whole{});
    }
    for (; column + lanes <= columns; column += lanes) body(row, count, column, Registers<1>{}, Whole{});
    if (column < columns) body(row, count, column, Registers<1>{}, first_lanes(columns - column));
  }
}

/// Prefetches `registers` registers of columns of a row.
template <class T>
[[gnu::always_inline]] inline void prefetch_columns(const T* p, int registers) {
  constexpr int line = 64;
  for (int i = 0; i < registers * lanes * static_cast<int>(sizeof(T)); i += line) {
    __builtin_prefetch(reinterpret_cast<const char*>(p) + i);
  }
}

/// Loads the registers of a row from p on.
template <int width, class T, class Some>
[[gnu::always_inline]] inline void load_row(const T* p, Floats (&row)[width], Some part) {
  for (int k = 0; k < width; ++k) row[k] = load(p + k * lanes, part);
}

/// Loads registers of g from p on, which are 0 where y, from q on, isn't greater than 0.
template <int width, class T, class Some>
[[gnu::always_inline]] inline void load_masked(const T* p, const T* q, Floats (&g)[width], Some part) {
  Floats y[width];
  load_row(p, g, part);
  load_row(q, y, part);
  for (int k = 0; k < width; ++k) g[k] = xsimd::select(y[k] > Floats(0.0F), g[k], Floats(0.0F));
}

/// sums[i] += x[i]
template <class Some>
[[gnu::always_inline]] inline void add_to(double* sums, const Floats& x, Some part) {
  float values[lanes];
  store(values, x, Whole{});
  for (int i = 0; i < lanes_of(part); ++i) sums[i] += static_cast<double>(values[i]);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
