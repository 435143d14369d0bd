#pragma once
#include <cstdint>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Row i of a left factor at the current depth. Every third row has a pointer; the two rows after it are addressed by
/// one or two steps from it, which the addressing modes allow. One pointer a row would need too many integer registers.
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

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
