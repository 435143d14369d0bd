#include <mezzo/backends/xsimd/gemm/gemm_blocking.hpp>

#include <algorithm>

namespace mezzo::xsimd_kernels {
namespace {

constexpr std::int64_t float_size = 4;

std::int64_t share_of(std::int64_t count, std::int64_t shares) { return (count + shares - 1) / shares; }

/// Cycles of the largest share: of its products, and of packing the pieces of both factors that it reads.
double cycles_of(const GemmSizes& sizes, std::int64_t block, std::int64_t panel, const GemmBlocking& blocking) {
  // Costs on a core with AVX2, for a number of a factor in the L2 cache.
  constexpr double products_per_cycle = 16, copying = 0.2, turning = 0.6;
  const auto rows = static_cast<double>(share_of(share_of(sizes.rows, block), blocking.row_shares) * block);
  const auto columns = static_cast<double>(share_of(share_of(sizes.columns, panel), blocking.column_shares) * panel);
  const double of_left = sizes.transpose_a || blocking.copies_rows ? copying : 0;
  const double of_right = sizes.transpose_b ? turning : copying;
  return static_cast<double>(sizes.depth) * (rows * columns / products_per_cycle + rows * of_left + columns * of_right);
}

}  // namespace

GemmBlocking gemm_blocking(const GemmSizes& sizes, std::int64_t block, std::int64_t panel, std::int64_t threads) {
  // A panel and a block of rows stay in an L1 cache of 32 KiB, a chunk of panels and one of rows in an L2 cache of 512.
  constexpr std::int64_t panel_bytes = 20 << 10, chunk_bytes = 128 << 10, row_bytes = 192 << 10, spread = 1024;
  GemmBlocking best;
  best.terms = share_of(sizes.depth, std::max<std::int64_t>(1, panel_bytes / (panel * float_size)));
  const std::int64_t piece_bytes = best.piece(sizes) * float_size;
  best.chunk_panels = std::max<std::int64_t>(1, chunk_bytes / (panel * piece_bytes));
  best.chunk_rows = std::max(block, row_bytes / piece_bytes / block * block);
  best.copies_rows = !sizes.transpose_a && best.terms > 1 && sizes.depth * float_size % spread == 0 &&
                     sizes.rows * sizes.depth * float_size > row_bytes;
  double least = 0;
  for (std::int64_t row_shares = 1; row_shares <= threads; ++row_shares) {
    GemmBlocking one = best;
    one.row_shares = row_shares;
    one.column_shares = threads / row_shares;
    const double cycles = cycles_of(sizes, block, panel, one);
    if (row_shares > 1 && cycles >= least) continue;
    least = cycles;
    best = one;
  }
  return best;
}

}  // namespace mezzo::xsimd_kernels
