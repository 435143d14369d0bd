#include <mezzo/backends/xsimd/gemm/gemm_blocking.hpp>

#include <algorithm>

namespace mezzo::xsimd_kernels {
namespace {

constexpr std::int64_t float_size = 4;

/// Most bytes of a factor of which all pieces of the depth are packed at once. Each thread has a copy in scratch
/// memory: a larger one is read from memory again, as the factor itself would be, and scratch memory would grow with
/// the depth.
constexpr std::int64_t most_kept_bytes = 8 << 20;

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

/// Chooses the order of loops with the least traffic behind the L2 cache. Each piece of work reads all of the kept
/// factor; kept sums are read and written for each piece of the depth. Without kept sums, all of the depth of the kept
/// factor is packed at once.
void choose_order(const GemmSizes& sizes, std::int64_t panel, GemmBlocking& blocking) {
  constexpr std::int64_t cache_floats = (384 << 10) / float_size, sums_cost = 3;
  const auto far = [](std::int64_t floats) { return floats > cache_floats ? floats : 0; };
  const std::int64_t left = sizes.rows * sizes.depth, right = sizes.depth * sizes.columns,
                     sums = sizes.rows * sizes.columns, terms = blocking.terms;
  const std::int64_t row_chunks = share_of(sizes.rows, blocking.chunk_rows),
                     column_chunks = share_of(sizes.columns, blocking.chunk_panels * panel);
  const std::int64_t of_sums = terms > 1 ? sums_cost * far(sums) * terms : 0;
  std::int64_t least = of_sums + far(left / terms) * terms * column_chunks;
  const auto offer = [&](std::int64_t traffic, bool keeps_panels, bool keeps_sums) {
    if (traffic >= least) return;
    least = traffic;
    blocking.keeps_panels = keeps_panels;
    blocking.keeps_sums = keeps_sums;
  };
  offer(of_sums + far(right / terms) * terms * row_chunks, true, true);
  constexpr std::int64_t most_kept = most_kept_bytes / float_size;
  if (left <= most_kept) offer(far(left) * column_chunks, false, false);
  if (right <= most_kept) offer(far(right) * row_chunks, true, false);
}

}  // namespace

GemmBlocking gemm_blocking(const GemmSizes& sizes, std::int64_t block, std::int64_t panel, std::int64_t threads) {
  // A panel and a block of rows stay in an L1 cache of 32 KiB, a chunk of panels and one of rows in an L2 cache of 512.
  constexpr std::int64_t chunk_bytes = 128 << 10, row_bytes = 192 << 10, spread = 1024;
  // Sums of a rounded result are kept in float32 between pieces, so the pieces of bfloat16 are longer.
  const std::int64_t panel_bytes = (sizes.narrow_a ? 32 : 20) << 10;
  GemmBlocking best;
  best.terms = share_of(sizes.depth, std::max<std::int64_t>(1, panel_bytes / (panel * float_size)));
  const std::int64_t piece_bytes = best.piece(sizes) * float_size;
  best.chunk_panels = std::max<std::int64_t>(1, chunk_bytes / (panel * piece_bytes));
  best.chunk_rows = std::max(block, row_bytes / piece_bytes / block * block);
  const bool shares_sets =
      best.terms > 1 && sizes.depth * float_size % spread == 0 && sizes.rows * sizes.depth * float_size > row_bytes;
  best.copies_rows = !sizes.transpose_a && (sizes.narrow_a || shares_sets);
  choose_order(sizes, panel, best);
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
