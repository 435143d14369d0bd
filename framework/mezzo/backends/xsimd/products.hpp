#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// out (+)= a b for a panel of columns, or out (+)= a^T b: a is (rows, depth) or (depth, rows), b (depth, panel), out
/// (rows, panel). Rows lie a width apart. Each sum is made in the order of depth, however many rows there are.
struct PanelProduct {
  const float* a = nullptr;
  std::int64_t a_width = 0;
  const float* b = nullptr;
  std::int64_t b_width = 0;
  float* out = nullptr;
  std::int64_t out_width = 0, rows = 0, depth = 0;
  bool accumulate = false;
};

/// A width of at least so many floats for the rows of a matrix: an odd number of cache lines, since rows that lie a
/// power of two apart would share a set of the cache.
inline std::int64_t spread_width(std::int64_t floats) {
  constexpr std::int64_t line = 16;
  return ((floats + line - 1) / line | 1) * line;
}

/// The least multiple of `unit` that n is not above: columns that whole panels cover.
inline std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

struct ProductFunctions {
  using Product = void (*)(const PanelProduct&);
  Product product;
  Product transposed_product;
  std::int64_t panel;  ///< columns
};

const ProductFunctions& product_functions(Isa isa);

namespace sse2 {
extern const ProductFunctions products;
}
namespace avx2 {
extern const ProductFunctions products;
}
namespace avx512 {
extern const ProductFunctions products;
}
namespace avx512_bf16 {
extern const ProductFunctions products;
}

}  // namespace mezzo::xsimd_kernels
