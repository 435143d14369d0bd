#include <mezzo/backends/xsimd/products.hpp>

namespace mezzo::xsimd_kernels {

const ProductFunctions& product_functions(Isa isa) {
  return pick(isa, sse2::products, avx2::products, avx512::products, avx512_bf16::products);
}

}  // namespace mezzo::xsimd_kernels
