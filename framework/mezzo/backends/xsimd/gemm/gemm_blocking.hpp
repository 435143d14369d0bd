#pragma once
#include <cstdint>

namespace mezzo::xsimd_kernels {

/// The product of (rows, depth) and (depth, columns), each of which may be transposed in memory.
struct GemmSizes {
  std::int64_t rows = 0, depth = 0, columns = 0;
  bool transpose_a = false, transpose_b = false;
  bool narrow_a = false;  ///< bfloat16, which is widened while it is copied
};

/// The division of a product into parts that stay in the caches and into shares of threads. Only the shares depend on
/// the number of threads, and no sum is divided between them, so results don't depend on it.
struct GemmBlocking {
  std::int64_t terms = 1;       ///< pieces of the depth
  std::int64_t row_shares = 1;  ///< times column_shares: shares of threads
  std::int64_t column_shares = 1;
  std::int64_t chunk_rows = 1;    ///< most rows that are multiplied with a chunk of panels
  std::int64_t chunk_panels = 1;  ///< panels that are packed at a time
  bool copies_rows = false;       ///< the left factor isn't transposed, but its rows are copied

  /// True: all panels are packed at first, then chunks of rows one after the other. False: the other way round.
  bool keeps_panels = false;

  /// True: the pieces of the depth are the outer loop, and sums are kept from piece to piece. False: each chunk is
  /// multiplied with all pieces before the next one.
  bool keeps_sums = true;

  /// Terms of the longest piece of the depth.
  std::int64_t piece(const GemmSizes& sizes) const { return (sizes.depth + terms - 1) / terms; }
};

/// `block`, `panel`: rows and columns of a block of the product.
GemmBlocking gemm_blocking(const GemmSizes& sizes, std::int64_t block, std::int64_t panel, std::int64_t threads);

}  // namespace mezzo::xsimd_kernels
