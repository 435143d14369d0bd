#include <mezzo/backends/xsimd/products.hpp>

#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// What one block of a product keeps in registers: sums of block_rows x 2 registers beside two registers of b and one
/// number of a, out of 32 registers with AVX-512 and 16 without.
constexpr int panel_registers = 2;
constexpr int panel_columns = panel_registers * lanes;
constexpr int block_rows = lanes == 16 ? 12 : 6;

template <int rows, bool transposed>
[[gnu::always_inline]] inline void block_product(const PanelProduct& p, const float* a, float* out) {
  Floats sums[rows][panel_registers];
  for (auto& row : sums) {
    for (Floats& sum : row) sum = Floats(0.0F);
  }
  const float* b = p.b;
  const std::int64_t next_row = transposed ? 1 : p.a_width, next = transposed ? p.a_width : 1;
  for (std::int64_t k = 0; k < p.depth; ++k, a += next, b += p.b_width) {
    const Floats left = load(b, Whole{}), right = load(b + lanes, Whole{});
    for (int i = 0; i < rows; ++i) {
      const Floats one(a[i * next_row]);
      sums[i][0] = multiply_add(one, left, sums[i][0]);
      sums[i][1] = multiply_add(one, right, sums[i][1]);
    }
  }
  for (int i = 0; i < rows; ++i, out += p.out_width) {
    for (int j = 0; j < panel_registers; ++j) {
      float* to = out + j * lanes;
      store(to, p.accumulate ? sums[i][j] + load(to, Whole{}) : sums[i][j], Whole{});
    }
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

}  // namespace

constexpr ProductFunctions products{panel_product<false>, panel_product<true>, panel_columns};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
