#pragma once
// Loops over arrays of rows in bands of a few rows, for reductions over rows in .isa.cpp files. Each row is read from
// its beginning to its end. Shorter pieces of many rows would compete for the same few cache lines if the rows lie a
// power of 2 apart.
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <int rows>
struct Height {
  static constexpr int size = rows;
};

/// Calls body(first row, Height<8 or 1>, first column, part) for all registers of all bands of rows.
template <class Body>
[[gnu::always_inline]] inline void for_bands(std::int64_t rows, std::int64_t columns, const Body& body) {
  constexpr int height = 8;
  std::int64_t row = 0;
  for (; row + height <= rows; row += height) {
    for_registers(0, columns, [&](std::int64_t column, auto part) { body(row, Height<height>{}, column, part); });
  }
  for (; row < rows; ++row) {
    for_registers(0, columns, [&](std::int64_t column, auto part) { body(row, Height<1>{}, column, part); });
  }
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
