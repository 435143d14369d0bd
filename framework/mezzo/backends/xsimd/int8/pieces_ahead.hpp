#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/backends/xsimd/prefetch.hpp>

namespace mezzo::xsimd_kernels {

/// Pieces of rows that are fetched in equal parts for each of some turns, in the order of memory.
struct PiecesAhead {
  const char *next = nullptr, *row_end = nullptr;  ///< the next line, and the end of its row's piece
  std::int64_t row_bytes = 0, gap = 0;             ///< of a piece, and between pieces
  std::int64_t lines = 0;                          ///< left
  std::int64_t of_turn = 0;                        ///< most lines of a turn

  PiecesAhead() = default;
  /// `rows` pieces of `bytes` bytes at a distance of `step` bytes. Lines are counted as the first piece lies in them:
  /// if `step` is no multiple of a line, a later piece may end one line behind the last that is fetched.
  PiecesAhead(const char* from, std::int64_t rows, std::int64_t bytes, std::int64_t step, std::int64_t turns) {
    const auto before = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from) % Prefetch::line_bytes);
    const std::int64_t of_row = (before + bytes + Prefetch::line_bytes - 1) / Prefetch::line_bytes;
    next = from - before;
    row_bytes = of_row * Prefetch::line_bytes;
    row_end = next + row_bytes;
    gap = step - row_bytes;
    lines = rows * of_row;
    of_turn = lines / std::max<std::int64_t>(turns, 1) + 1;
  }

  /// Removes and returns the next line. There must be one.
  const char* take() {
    const char* const line = next;
    next += Prefetch::line_bytes;
    --lines;
    if (next == row_end) {
      next += gap;
      row_end = next + row_bytes;
    }
    return line;
  }
};

}  // namespace mezzo::xsimd_kernels
